// Special functions against SciPy's: values, special cases, dtypes, layouts; identities over wide ranges.
#include <cmath>
#include <limits>

#include <catena/tests/support/ndarray_numpy.h>

using test::each;
namespace sp = nd::special;

BOOST_AUTO_TEST_SUITE(special)

BOOST_FIXTURE_TEST_CASE(error_functions, test::NumpyScene) {
  // numpy: import scipy.special as sp
  NUMPY("sp.erf(b)", sp::erf(b),
        "float64 (3, 4) 0.995322265 -0.842700793 0.520499878 0.99997791 -0.999593048 0.999999985 0.842700793 "
        "0.27632639 0.966105146 -0.711155634 1 0.995322265");
  NUMPY("sp.erf(np.array([0., -0., np.inf, -np.inf, np.nan, 1e-300]))",
        sp::erf(nd::array({0., -0., nd::inf, -nd::inf, nd::nan, 1e-300})), "float64 (6) 0 -0 1 -1 nan 1.12837917e-300");
  NUMPY("sp.erf(np.float32(f / 5))", sp::erf(f / 5), "float32 (2, 2) 0.222702593 0.428392351 0.603856087 0.742100954");
  NUMPY("sp.erf(t / 30)", sp::erf(t / 30),
        "float64 (4, 2, 2) 0.112462916 0.395921909 0.520499878 0.721737343 0.0751139814 0.362648112 0.490724563 "
        "0.70030606 0.0375987129 0.328626759 0.460008521 0.677801194 0 0.293918259 0.428392355 0.654221414");
  NUMPY("sp.erf(e)", sp::erf(e), "float64 (0)");
  NUMPY("sp.erf(0.75)", sp::erf(0.75), "float64 () 0.711155634");
  NUMPY("sp.erfc(b * 4)", sp::erfc(b * 4),
        "float64 (3, 4) 1.12242972e-29 1.99999998 0.00467773498 1.35626117e-64 2 2.32848575e-113 1.54172579e-08 "
        "0.157299207 2.15197367e-17 1.99997791 1.64898258e-252 1.12242972e-29");
  NUMPY("sp.erfc(np.array([0., np.inf, -np.inf, np.nan]))", sp::erfc(nd::array({0., nd::inf, -nd::inf, nd::nan})),
        "float64 (4) 1 0 2 nan");
  NUMPY("sp.erfc(np.float32(f / 5))", sp::erfc(f / 5),
        "float32 (2, 2) 0.777297437 0.571607649 0.396143883 0.257899016");
  NUMPY("sp.erfc(t / 30)", sp::erfc(t / 30),
        "float64 (4, 2, 2) 0.887537084 0.604078091 0.479500122 0.278262657 0.924886019 0.637351888 0.509275437 "
        "0.29969394 0.962401287 0.671373241 0.539991479 0.322198806 1 0.706081741 0.571607645 0.345778586");
  NUMPY("sp.erfc(e)", sp::erfc(e), "float64 (0)");
  NUMPY("sp.erfc(0.75)", sp::erfc(0.75), "float64 () 0.288844366");
  NUMPY("sp.erfinv(b / 7)", sp::erfinv(b / 7),
        "float64 (3, 4) 0.258876288 -0.127287967 0.0633867143 0.40018625 -0.327890896 0.559773028 0.127287967 "
        "0.0316615382 0.192248195 -0.0952400667 1.03607675 0.258876288");
  NUMPY("sp.erfinv(np.array([0., -1, 1, 1.5, np.nan, 1 - 1e-15]))",
        sp::erfinv(nd::array({0., -1., 1., 1.5, nd::nan, 1 - 1e-15})), "float64 (6) 0 -inf inf nan nan 5.67591574");
  NUMPY("sp.erfinv(np.float32(f / 5))", sp::erfinv(f / 5),
        "float32 (2, 2) 0.179143444 0.370807171 0.595116138 0.906193733");
  NUMPY("sp.erfinv(t / 30)", sp::erfinv(t / 30),
        "float64 (4, 2, 2) 0.0888559905 0.337318522 0.476936276 0.842741297 0.0591507083 0.304570194 0.440475003 "
        "0.785434142 0.0295494959 0.272462715 0.405149239 0.732869078 0 0.240907623 0.370807159 0.68407035");
  NUMPY("sp.erfinv(e)", sp::erfinv(e), "float64 (0)");
  NUMPY("sp.erfinv(0.75)", sp::erfinv(0.75), "float64 () 0.813419848");
  NUMPY("sp.erfcinv(a / 4)", sp::erfcinv(a / 4),
        "float64 (3, 4) 1.08478704 0.813419848 0.627307348 0.476936276 0.345617115 0.225312055 0.111235452 -0 "
        "-0.111235452 -0.225312055 -0.345617115 -0.476936276");
  NUMPY("sp.erfcinv(np.array([0., 2, -1, 1, 1e-300, 1e-20, 1e-8, np.nan]))",
        sp::erfcinv(nd::array({0., 2., -1., 1., 1e-300, 1e-20, 1e-8, nd::nan})),
        "float64 (8) inf -inf nan -0 26.20947 6.60158062 4.05223724 nan");
  NUMPY("sp.erfcinv(np.float32(f / 5))", sp::erfcinv(f / 5),
        "float32 (2, 2) 0.906193793 0.595116079 0.370807141 0.179143444");
  NUMPY("sp.erfcinv(t / 30)", sp::erfcinv(t / 30),
        "float64 (4, 2, 2) 1.16308715 0.638329893 0.476936276 0.209825338 1.29677348 0.68407035 0.514712424 "
        "0.240907623 1.50475522 0.732869078 0.554018429 0.272462715 inf 0.785434142 0.595116081 0.304570194");
  NUMPY("sp.erfcinv(e)", sp::erfcinv(e), "float64 (0)");
  NUMPY("sp.erfcinv(0.75)", sp::erfcinv(0.75), "float64 () 0.225312055");
  NUMPY("sp.ndtr(b * 2)", sp::ndtr(b * 2),
        "float64 (3, 4) 0.999968329 0.0227501319 0.841344746 0.999999999 2.86651572e-07 1 0.977249868 0.691462461 "
        "0.998650102 0.0668072013 1 0.999968329");
  NUMPY("sp.ndtr(np.array([0., np.inf, -np.inf, np.nan]))", sp::ndtr(nd::array({0., nd::inf, -nd::inf, nd::nan})),
        "float64 (4) 0.5 1 0 nan");
  NUMPY("sp.ndtr(np.float32(f / 5))", sp::ndtr(f / 5), "float32 (2, 2) 0.579259694 0.655421734 0.72574687 0.788144588");
  NUMPY("sp.ndtr(t / 30)", sp::ndtr(t / 30),
        "float64 (4, 2, 2) 0.539827837 0.643066163 0.691462461 0.778360136 0.526576464 0.63055866 0.679630809 "
        "0.768322425 0.513295614 0.617911422 0.667613687 0.758036348 0.5 0.60513709 0.655421742 0.747507462");
  NUMPY("sp.ndtr(e)", sp::ndtr(e), "float64 (0)");
  NUMPY("sp.ndtr(0.75)", sp::ndtr(0.75), "float64 () 0.773372648");
  NUMPY("sp.log_ndtr(np.array([-40., -20.5, -5, 0, 3, -np.inf, np.nan]))",
        sp::log_ndtr(nd::array({-40., -20.5, -5., 0., 3., -nd::inf, nd::nan})),
        "float64 (7) -804.608442 -214.066729 -15.0649984 -0.693147181 -0.00135080996 -inf nan");
  NUMPY("sp.ndtri(a / 7)", sp::ndtri(a / 7),
        "float64 (3, 4) -1.46523379 -1.06757052 -0.791638608 -0.565948822 -0.366106357 -0.18001237 0 0.18001237 "
        "0.366106357 0.565948822 0.791638608 1.06757052");
  NUMPY("sp.ndtri(np.array([0., 1, 0.5, 2, 1e-300, np.nan]))", sp::ndtri(nd::array({0., 1., 0.5, 2., 1e-300, nd::nan})),
        "float64 (6) -inf inf 0 nan -37.0470963 nan");
  NUMPY("sp.ndtri(np.float32(f / 5))", sp::ndtri(f / 5),
        "float32 (2, 2) -0.84162122 -0.253347099 0.253347158 0.84162128");
  NUMPY("sp.ndtri(t / 30)", sp::ndtri(t / 30),
        "float64 (4, 2, 2) -1.28155157 -0.340694827 0 0.727913291 -1.50108595 -0.430727299 -0.0836517339 0.622925723 "
        "-1.83391464 -0.524400513 -0.167894005 0.524400513 -inf -0.622925723 -0.253347103 0.430727299");
  NUMPY("sp.ndtri(e)", sp::ndtri(e), "float64 (0)");
  NUMPY("sp.ndtri(0.75)", sp::ndtri(0.75), "float64 () 0.67448975");
}

BOOST_FIXTURE_TEST_CASE(gamma_functions, test::NumpyScene) {
  // numpy: import scipy.special as sp
  NUMPY("sp.gamma(b + 0.25)", sp::gamma(b + 0.25),
        "float64 (3, 4) 1.1330031 -4.83414654 1.2254167 2.54925697 -1.74281487 8.28508514 0.906402477 1.77245385 "
        "0.919062527 -3.5449077 184.860962 1.1330031");
  NUMPY("sp.gamma(np.array([0., -0., -1, np.inf, np.nan, 171.5, 172, -30.5, -200.5, 1e-300]))",
        sp::gamma(nd::array({0., -0., -1., nd::inf, nd::nan, 171.5, 172., -30.5, -200.5, 1e-300})),
        "float64 (10) inf -inf nan inf nan 9.48336757e+307 inf -2.13579744e-33 -0 1e+300");
  NUMPY("sp.gamma(np.float32(f / 5))", sp::gamma(f / 5), "float32 (2, 2) 4.59084368 2.21815944 1.48919225 1.16422975");
  NUMPY("sp.gamma(t / 30)", sp::gamma(t / 30),
        "float64 (4, 2, 2) 9.5135077 2.42616347 1.77245385 1.20385906 14.4849609 2.67893853 1.89774437 1.24824158 "
        "29.4547797 2.99156899 2.04449862 1.29805533 inf 3.38670811 2.21815954 1.35411794");
  NUMPY("sp.gamma(e)", sp::gamma(e), "float64 (0)");
  NUMPY("sp.gamma(0.75)", sp::gamma(0.75), "float64 () 1.2254167");
  NUMPY("sp.gammaln(b + 0.25)", sp::gammaln(b + 0.25),
        "float64 (3, 4) 0.124871715 1.5757046 0.203280951 0.935801931 0.555501545 2.11445693 -0.0982718364 "
        "0.572364943 -0.084401121 1.26551212 5.21960399 0.124871715");
  NUMPY("sp.gammaln(np.array([0., -1, np.inf, np.nan, 1, 2, 1e300, 1e-300, -30.5]))",
        sp::gammaln(nd::array({0., -1., nd::inf, nd::nan, 1., 2., 1e300, 1e-300, -30.5})),
        "float64 (9) inf inf inf nan 0 0 6.89775528e+302 690.775528 -75.226468");
  NUMPY("sp.gammaln(np.float32(f / 5))", sp::gammaln(f / 5),
        "float32 (2, 2) 1.52406383 0.796677828 0.398233831 0.152059674");
  NUMPY("sp.gammaln(t / 30)", sp::gammaln(t / 30),
        "float64 (4, 2, 2) 2.25271265 0.88631119 0.572364943 0.18553228 2.67311093 0.985420647 0.640666006 "
        "0.221735828 3.3828562 1.09579799 0.715152587 0.260867247 inf 1.21985839 0.796677818 0.303150275");
  NUMPY("sp.gammaln(e)", sp::gammaln(e), "float64 (0)");
  NUMPY("sp.gammaln(0.75)", sp::gammaln(0.75), "float64 () 0.203280951");
  NUMPY("sp.digamma(b + 0.25)", sp::digamma(b + 0.25),
        "float64 (3, 4) 0.572546467 -2.8941202 -1.08586088 1.01699091 4.15858356 1.32468322 -0.227453533 -1.96351003 "
        "0.247472454 0.036489974 1.75045353 0.572546467");
  NUMPY("sp.digamma(np.array([0., -0., -1, np.inf, np.nan, 1e10, 1e-10]))",
        sp::digamma(nd::array({0., -0., -1., nd::inf, nd::nan, 1e10, 1e-10})),
        "float64 (7) -inf inf nan inf nan 23.0258509 -1e+10");
  NUMPY("sp.digamma(np.float32(f / 5))", sp::digamma(f / 5),
        "float32 (2, 2) -5.28903961 -2.56138444 -1.54061913 -0.965008557");
  NUMPY("sp.digamma(t / 30)", sp::digamma(t / 30),
        "float64 (4, 2, 2) -10.4237549 -2.82339683 -1.96351003 -1.04421777 -15.4725944 -3.13203378 -2.13799657 "
        "-1.1289776 -30.5236813 -3.50252422 -2.33543682 -1.22002355 -inf -3.95768034 -2.56138454 -1.31823442");
  NUMPY("sp.digamma(e)", sp::digamma(e), "float64 (0)");
  NUMPY("sp.digamma(0.75)", sp::digamma(0.75), "float64 () -1.08586088");
  NUMPY("sp.zeta(b + 1.5)", sp::zeta(b + 1.5),
        "float64 (3, 4) 1.12673387 -1.46035451 1.64493407 1.05470751 -0.0833333333 1.02520458 1.34148726 1.9623201 "
        "1.2020569 -3.44128539 1.00582673 1.12673387");
  NUMPY("sp.zeta(np.array([1., 0, -2, -1, -30.5, np.inf, np.nan]))",
        sp::zeta(nd::array({1., 0., -2., -1., -30.5, nd::inf, nd::nan})),
        "float64 (7) inf -0.5 0 -0.0833333333 149774871 1 nan");
  NUMPY("sp.zeta(np.float32(f / 5))", sp::zeta(f / 5),
        "float32 (2, 2) -0.733920932 -1.13479781 -1.95266163 -4.43753862");
  NUMPY("sp.zeta(t / 30)", sp::zeta(t / 30),
        "float64 (4, 2, 2) -0.60303752 -1.04968867 -1.46035451 -3.72574814 -0.566038829 -0.973360248 -1.33793759 "
        "-3.19253945 -0.53178427 -0.904559257 -1.23023572 -2.77838845 -0.5 -0.842260262 -1.13479778 -2.44758074");
  NUMPY("sp.zeta(e)", sp::zeta(e), "float64 (0)");
  NUMPY("sp.zeta(0.75)", sp::zeta(0.75), "float64 () -3.44128539");
}

BOOST_FIXTURE_TEST_CASE(bessel_functions, test::NumpyScene) {
  // numpy: import scipy.special as sp
  NUMPY("sp.j0(b * 3)", sp::j0(b * 3),
        "float64 (3, 4) 0.150645257 -0.260051955 0.511827672 -0.0903336112 0.266339658 0.0476893108 -0.260051955 "
        "0.864242275 -0.320542509 0.0827498513 -0.0133558057 0.150645257");
  NUMPY("sp.j0(np.array([0., 100, -50.5, np.nan]))", sp::j0(nd::array({0., 100., -50.5, nd::nan})),
        "float64 (4) 1 0.0199858503 0.0955198915 nan");
  NUMPY("sp.j0(np.float32(f / 5))", sp::j0(f / 5), "float32 (2, 2) 0.990024984 0.960398197 0.912004828 0.84628737");
  NUMPY("sp.j0(t / 30)", sp::j0(t / 30),
        "float64 (4, 2, 2) 0.997501562 0.966670263 0.938469807 0.858366391 0.998889197 0.972414529 0.946292137 "
        "0.870007443 0.999722242 0.977626247 0.953603635 0.881200889 1 0.982301079 0.960398227 0.891937468");
  NUMPY("sp.j0(e)", sp::j0(e), "float64 (0)");
  NUMPY("sp.j0(0.75)", sp::j0(0.75), "float64 () 0.864242275");
  NUMPY("sp.j1(b * 3)", sp::j1(b * 3),
        "float64 (3, 4) -0.276683858 -0.339058959 0.557936508 0.245311787 -0.135248428 -0.223447104 0.339058959 "
        "0.349243602 -0.231060432 -0.548378357 -0.187994885 -0.276683858");
  NUMPY("sp.j1(np.array([0., 100, -50.5, np.nan]))", sp::j1(nd::array({0., 100., -50.5, nd::nan})),
        "float64 (4) 0 -0.077145352 0.0580628764 nan");
  NUMPY("sp.j1(np.float32(f / 5))", sp::j1(f / 5), "float32 (2, 2) 0.0995008349 0.196026579 0.286700994 0.368842065");
  NUMPY("sp.j1(t / 30)", sp::j1(t / 30),
        "float64 (4, 2, 2) 0.049937526 0.180269526 0.242268458 0.355850363 0.0333148182 0.164362544 0.227038858 "
        "0.342564673 0.016664352 0.148318816 0.211620654 0.328995742 0 0.132151655 0.196026578 0.315154593");
  NUMPY("sp.j1(e)", sp::j1(e), "float64 (0)");
  NUMPY("sp.j1(0.75)", sp::j1(0.75), "float64 () 0.349243602");
  NUMPY("sp.y0(a * 3)", sp::y0(a * 3),
        "float64 (3, 4) 0.382448924 0.37685001 -0.194705009 -0.288194684 0.117313286 0.249936698 -0.0675303725 "
        "-0.225237313 0.030077009 0.205464296 0.000181232458 -0.18755216");
  NUMPY("sp.y0(np.array([0., -1, 100, np.nan]))", sp::y0(nd::array({0., -1., 100., nd::nan})),
        "float64 (4) -inf nan -0.0772443134 nan");
  NUMPY("sp.y0(np.float32(f / 5))", sp::y0(f / 5),
        "float32 (2, 2) -1.08110535 -0.606024563 -0.308509827 -0.0868022665");
  NUMPY("sp.y0(t / 30)", sp::y0(t / 30),
        "float64 (4, 2, 2) -1.53423865 -0.667648914 -0.444518734 -0.120050753 -1.79509853 -0.734373073 -0.495017177 "
        "-0.154641049 -2.23827506 -0.807273578 -0.548688954 -0.190664929 -inf -0.887818663 -0.606024568 -0.228229713");
  NUMPY("sp.y0(e)", sp::y0(e), "float64 (0)");
  NUMPY("sp.y0(0.75)", sp::y0(0.75), "float64 () -0.137172769");
  NUMPY("sp.y1(a * 3)", sp::y1(a * 3),
        "float64 (3, 4) -0.412308627 0.324674425 0.300997323 -0.175010344 -0.25912851 0.104314575 0.233704228 "
        "-0.0570992183 -0.21402293 0.021073628 0.196475838 0.00815513228");
  NUMPY("sp.y1(np.array([0., -1, 100, np.nan]))", sp::y1(nd::array({0., -1., 100., nd::nan})),
        "float64 (4) -inf nan -0.020372312 nan");
  NUMPY("sp.y1(np.float32(f / 5))", sp::y1(f / 5), "float32 (2, 2) -3.32382488 -1.78087199 -1.26039135 -0.978144169");
  NUMPY("sp.y1(t / 30)", sp::y1(t / 30),
        "float64 (4, 2, 2) -6.45895109 -1.92060578 -1.47147239 -1.01715739 -9.61978565 -2.08816578 -1.56037792 "
        "-1.05871788 -19.1412092 -2.29310514 -1.66236412 -1.10324987 -inf -2.54977919 -1.78087204 -1.15126602");
  NUMPY("sp.y1(e)", sp::y1(e), "float64 (0)");
  NUMPY("sp.y1(0.75)", sp::y1(0.75), "float64 () -1.03759455");
  NUMPY("sp.i0(b * 3)", sp::i0(b * 3),
        "float64 (3, 4) 67.234407 4.88079259 1.64672319 1093.58835 268.161312 18948.9253 4.88079259 1.14564678 "
        "17.4811719 2.72707831 6218412.42 67.234407");
  NUMPY("sp.i0(np.array([0., 8, 8.5, -600, np.nan]))", sp::i0(nd::array({0., 8., 8.5, -600., nd::nan})),
        "float64 (5) 1 427.564116 683.161927 6.1463054e+258 nan");
  NUMPY("sp.i0(np.float32(f / 5))", sp::i0(f / 5), "float32 (2, 2) 1.01002502 1.04040182 1.09204543 1.16651487");
  NUMPY("sp.i0(t / 30)", sp::i0(t / 30),
        "float64 (4, 2, 2) 1.00250156 1.03389459 1.06348337 1.15243156 1.00111142 1.02797128 1.05518999 1.13903135 "
        "1.0002778 1.02262688 1.04749827 1.12630302 1 1.01785695 1.04040178 1.1142359");
  NUMPY("sp.i0(e)", sp::i0(e), "float64 (0)");
  NUMPY("sp.i0(0.75)", sp::i0(0.75), "float64 () 1.14564678");
  NUMPY("sp.i0e(b * 3)", sp::i0e(b * 3),
        "float64 (3, 4) 0.166657433 0.243000354 0.367433609 0.134959525 0.14831583 0.116426221 0.243000354 "
        "0.541165219 0.194198278 0.287431939 0.0947062952 0.166657433");
  NUMPY("sp.i0e(np.array([0., 8, 8.5, -1e5, np.inf, np.nan]))",
        sp::i0e(nd::array({0., 8., 8.5, -1e5, nd::inf, nd::nan})),
        "float64 (6) 1 0.143431782 0.139001843 0.00126156784 0 nan");
  NUMPY("sp.i0e(np.float32(f / 5))", sp::i0e(f / 5), "float32 (2, 2) 0.82693857 0.697402179 0.599327207 0.524148941");
  NUMPY("sp.i0e(t / 30)", sp::i0e(t / 30),
        "float64 (4, 2, 2) 0.907100926 0.716530951 0.64503527 0.535372478 0.936546726 0.736573605 0.661698127 "
        "0.547082793 0.96748479 0.757580625 0.679139577 0.559305527 1 0.77960548 0.697402171 0.572067786");
  NUMPY("sp.i0e(e)", sp::i0e(e), "float64 (0)");
  NUMPY("sp.i0e(0.75)", sp::i0e(0.75), "float64 () 0.541165219");
  NUMPY("sp.i1(b * 3)", sp::i1(b * 3),
        "float64 (3, 4) 61.3419368 -3.95337022 0.981666429 1030.91472 -249.584365 18141.3488 3.95337022 0.401992462 "
        "15.3892228 -2.00396746 6043133.24 61.3419368");
  NUMPY("sp.i1(np.array([0., 8, 8.5, -600, np.nan]))", sp::i1(nd::array({0., 8., 8.5, -600., nd::nan})),
        "float64 (5) 0 399.873137 641.619903 -6.14118135e+258 nan");
  NUMPY("sp.i1(np.float32(f / 5))", sp::i1(f / 5), "float32 (2, 2) 0.100500837 0.204026759 0.313704044 0.432864815");
  NUMPY("sp.i1(t / 30)", sp::i1(t / 30),
        "float64 (4, 2, 2) 0.050062526 0.18643166 0.257894305 0.41219596 0.0333518553 0.168992223 0.239743085 "
        "0.391873346 0.0166689816 0.15169384 0.221792261 0.371879678 0 0.134522035 0.204026756 0.35219798");
  NUMPY("sp.i1(e)", sp::i1(e), "float64 (0)");
  NUMPY("sp.i1(0.75)", sp::i1(0.75), "float64 () 0.401992462");
  NUMPY("sp.i1e(b * 3)", sp::i1e(b * 3),
        "float64 (3, 4) 0.152051459 -0.196826713 0.219039387 0.127224984 -0.138041212 0.111464299 0.196826713 "
        "0.189887793 0.170958822 -0.211216616 0.0920367969 0.152051459");
  NUMPY("sp.i1e(np.array([0., 8, 8.5, -1e5, np.nan]))", sp::i1e(nd::array({0., 8., 8.5, -1e5, nd::nan})),
        "float64 (5) 0 0.134142493 0.130549355 -0.00126156153 nan");
  NUMPY("sp.i1e(np.float32(f / 5))", sp::i1e(f / 5), "float32 (2, 2) 0.0822831243 0.13676323 0.172164425 0.194498688");
  NUMPY("sp.i1e(t / 30)", sp::i1e(t / 30),
        "float64 (4, 2, 2) 0.0452984468 0.129204713 0.156420803 0.191489351 0.0312008936 0.121088219 0.150340272 "
        "0.188218845 0.0161225074 0.112377561 0.143797758 0.184669983 0 0.103034239 0.136763224 0.180824472");
  NUMPY("sp.i1e(e)", sp::i1e(e), "float64 (0)");
  NUMPY("sp.i1e(0.75)", sp::i1e(0.75), "float64 () 0.189887793");
}

BOOST_FIXTURE_TEST_CASE(logistic_functions, test::NumpyScene) {
  // numpy: import scipy.special as sp
  NUMPY("sp.expit(b)", sp::expit(b),
        "float64 (3, 4) 0.880797078 0.268941421 0.622459331 0.952574127 0.07585818 0.98201379 0.731058579 "
        "0.562176501 0.817574476 0.320821301 0.997527377 0.880797078");
  NUMPY("sp.expit(np.array([0., 800, -700, np.inf, -np.inf, np.nan]))",
        sp::expit(nd::array({0., 800., -700., nd::inf, -nd::inf, nd::nan})),
        "float64 (6) 0.5 1 9.85967654e-305 1 0 nan");
  NUMPY("sp.expit(np.float32(f / 5))", sp::expit(f / 5),
        "float32 (2, 2) 0.549833953 0.598687649 0.645656288 0.689974487");
  NUMPY("sp.expit(t / 30)", sp::expit(t / 30),
        "float64 (4, 2, 2) 0.524979187 0.590653283 0.622459331 0.682799386 0.516660497 0.582570206 0.614594498 "
        "0.675536323 0.508332562 0.574442517 0.606669356 0.668187772 0.5 0.566274394 0.59868766 0.660756369");
  NUMPY("sp.expit(e)", sp::expit(e), "float64 (0)");
  NUMPY("sp.expit(0.75)", sp::expit(0.75), "float64 () 0.679178699");
  NUMPY("sp.logit(a / 7)", sp::logit(a / 7),
        "float64 (3, 4) -2.56494936 -1.79175947 -1.29928298 -0.916290732 -0.587786665 -0.287682072 0 0.287682072 "
        "0.587786665 0.916290732 1.29928298 1.79175947");
  NUMPY("sp.logit(np.array([0., 1, 0.5, 2, np.nan]))", sp::logit(nd::array({0., 1., 0.5, 2., nd::nan})),
        "float64 (5) -inf inf 0 nan nan");
  NUMPY("sp.logit(np.float32(f / 5))", sp::logit(f / 5),
        "float32 (2, 2) -1.38629436 -0.405465066 0.405465186 1.38629448");
  NUMPY("sp.logit(t / 30)", sp::logit(t / 30),
        "float64 (4, 2, 2) -2.19722458 -0.546543706 0 1.18958407 -2.63905733 -0.693147181 -0.133531393 1.01160091 "
        "-3.36729583 -0.84729786 -0.268263987 0.84729786 -inf -1.01160091 -0.405465108 0.693147181");
  NUMPY("sp.logit(e)", sp::logit(e), "float64 (0)");
  NUMPY("sp.logit(0.75)", sp::logit(0.75), "float64 () 1.09861229");
  NUMPY("sp.log_expit(b)", sp::log_expit(b),
        "float64 (3, 4) -0.126928011 -1.31326169 -0.474076984 -0.0485873516 -2.57888973 -0.0181499279 -0.313261688 "
        "-0.57593942 -0.201413278 -1.13687101 -0.00247568514 -0.126928011");
  NUMPY("sp.log_expit(np.array([0., 800, -700, np.inf, -np.inf, np.nan]))",
        sp::log_expit(nd::array({0., 800., -700., nd::inf, -nd::inf, nd::nan})),
        "float64 (6) -0.693147181 -0 -700 -0 -inf nan");
  NUMPY("sp.log_expit(np.float32(f / 5))", sp::log_expit(f / 5),
        "float32 (2, 2) -0.598138869 -0.51301527 -0.43748793 -0.371100664");
  NUMPY("sp.log_expit(t / 30)", sp::log_expit(t / 30),
        "float64 (4, 2, 2) -0.64439666 -0.526526096 -0.474076984 -0.381554187 -0.6603693 -0.540305575 -0.486792581 "
        "-0.392248351 -0.676619396 -0.554355244 -0.499771354 -0.403186049 -0.693147181 -0.568676523 -0.513015252 "
        "-0.414370087");
  NUMPY("sp.log_expit(e)", sp::log_expit(e), "float64 (0)");
  NUMPY("sp.log_expit(0.75)", sp::log_expit(0.75), "float64 () -0.386871006");
  NUMPY("sp.entr(b)", sp::entr(b),
        "float64 (3, 4) -1.38629436 -inf 0.34657359 -3.29583687 -inf -5.54517744 -0 0.34657359 -0.608197662 -inf "
        "-10.7505568 -1.38629436");
  NUMPY("sp.entr(np.array([0., 1, -1, np.nan]))", sp::entr(nd::array({0., 1., -1., nd::nan})),
        "float64 (4) 0 -0 -inf nan");
  NUMPY("sp.entr(np.float32(f / 5))", sp::entr(f / 5),
        "float32 (2, 2) 0.321887583 0.366516292 0.306495368 0.178514838");
  NUMPY("sp.entr(t / 30)", sp::entr(t / 30),
        "float64 (4, 2, 2) 0.230258509 0.36787744 0.34657359 0.20370576 0.18053668 0.366204096 0.355665358 "
        "0.227446947 0.113373246 0.361191841 0.362374144 0.249672461 0 0.352468224 0.366516293 0.270310072");
  NUMPY("sp.entr(e)", sp::entr(e), "float64 (0)");
  NUMPY("sp.entr(0.75)", sp::entr(0.75), "float64 () 0.215761554");
}

BOOST_FIXTURE_TEST_CASE(functions_of_two, test::NumpyScene) {
  // numpy: import scipy.special as sp
  NUMPY("sp.beta(a, v[:4])", sp::beta(a, v(nd::Slice(4))),
        "float64 (3, 4) 1.06666667 1 0.266666667 0.0333333333 0.0507936508 0.333333333 0.0634920635 0.00357142857 "
        "0.0124320124 0.2 0.027972028 0.000793650794");
  NUMPY("sp.beta(np.array([0.5, 30, 30, 2000, 2000, 1e-3, -1.5]), np.array([20.25, 40, 0.5, 2.5, 80, 1e-3, 2.25]))",
        sp::beta(nd::array({0.5, 30., 30., 2000., 2000., 1e-3, -1.5}),
                 nd::array({20.25, 40., 0.5, 2.5, 80., 1e-3, 2.25})),
        "float64 (7) 0.396317254 1.05394246e-21 0.32495542 7.42427748e-09 1.55585192e-148 1999.99671 2.18504796");
  NUMPY("sp.betaln(a, v[:4])", sp::betaln(a, v(nd::Slice(4))),
        "float64 (3, 4) 0.0645385211 0 -1.32175584 -3.40119738 -2.97998392 -1.09861229 -2.75684037 -5.6347896 "
        "-4.38748049 -1.60943791 -3.57655027 -7.138867");
  NUMPY("sp.betaln(np.array([0.5, 30, 30, 2000, 1e6, 1e-3]), np.array([20.25, 40, 0.5, 2.5, 3e5, 1e-3]))",
        sp::betaln(nd::array({0.5, 30., 30., 2000., 1e6, 1e-3}), nd::array({20.25, 40., 0.5, 2.5, 3e5, 1e-3})),
        "float64 (6) -0.925540241 -48.3017491 -1.12406727 -18.7185105 -702270.641 7.60090082");
  NUMPY("sp.zeta(a + 1, v[:4])", sp::zeta(a + 1, v(nd::Slice(4))),
        "float64 (3, 4) 1.25882196 1.64493407 0.341487257 0.0243948661 0.0383455197 1.08232323 0.0547075108 "
        "0.000585966306 0.00310749304 1.01734306 0.0120058999 1.84948548e-05");
  NUMPY("sp.zeta(np.array([2, 2, 1, 0.5, 2, 40, 1.001]), np.array([0, -1, 2, 2, 1e10, 900, 1e-3]))",
        sp::zeta(nd::array({2., 2., 1., 0.5, 2., 40., 1.001}), nd::array({0., -1., 2., 2., 1e10, 900., 1e-3})),
        "float64 (7) inf inf inf nan 1e-10 1.59534628e-117 2007.50731");
  NUMPY("sp.xlogy(b, a)", sp::xlogy(b, a),
        "float64 (3, 4) -1.38629436 -0 0.202732554 2.07944154 -2.29072683 4.39444915 1.25276297 0.34657359 2.2561161 "
        "-1.20707843 10.2284886 3.58351894");
  NUMPY("sp.xlogy(np.array([0., 0, 0, 2]), np.array([0, np.nan, -1, 0]))",
        sp::xlogy(nd::array({0., 0., 0., 2.}), nd::array({0., nd::nan, -1., 0.})), "float64 (4) 0 nan 0 -inf");
  NUMPY("sp.xlog1py(b, a)", sp::xlog1py(b, a),
        "float64 (3, 4) 0.810930216 -0.693147181 0.458145366 3.29583687 -3.13190742 5.54517744 1.5040774 0.402359478 "
        "2.55712214 -1.3438196 11.2308131 3.8918203");
  NUMPY("sp.xlog1py(np.array([0., 0, 2]), np.array([-1, np.nan, 1e-20]))",
        sp::xlog1py(nd::array({0., 0., 2.}), nd::array({-1., nd::nan, 1e-20})), "float64 (3) 0 nan 2e-20");
  NUMPY("sp.rel_entr(a, np.abs(b))", sp::rel_entr(a, nd::abs(b)),
        "float64 (3, 4) -0.693147181 0 1.64791843 -0.810930216 0 -0.863046217 4.38467039 11.0903549 4.9437553 "
        "9.48559992 -0.478562573 6.59167373");
  NUMPY("sp.rel_entr(np.array([0., 0, 1, -1, 1, 1, np.nan]), np.array([0, -1, 0, 1, 1, 1 + 1e-12, 1]))",
        sp::rel_entr(nd::array({0., 0., 1., -1., 1., 1., nd::nan}), nd::array({0., -1., 0., 1., 1., 1 + 1e-12, 1.})),
        "float64 (7) 0 inf inf inf 0 -1.0000889e-12 nan");
  NUMPY("[sp.polygamma(n, a) for n in range(4)]",
        each(std::vector<nd::Array>{nd::array(0), nd::array(1), nd::array(2), nd::array(3)},
             [&](auto& n) { return sp::polygamma(n.template item<int>(), a); }),
        "float64 (3, 4) -1.96351003 -0.577215665 0.036489974 0.422784335 0.703156641 0.922784335 1.10315664 "
        "1.25611767 1.38887093 1.50611767 1.61109315 1.70611767 | float64 (3, 4) 4.9348022 1.64493407 0.934802201 "
        "0.644934067 0.490357756 0.394934067 0.330357756 0.283822956 0.248725103 0.221322956 0.199342387 0.181322956 "
        "| float64 (3, 4) -16.8287966 -2.40411381 -0.828796644 -0.404113806 -0.236204052 -0.154113806 -0.108204052 "
        "-0.0800397322 -0.0615568213 -0.0487897322 -0.0396089475 -0.0327897322 | float64 (3, 4) 97.409091 6.4939394 "
        "1.40909103 0.493939402 0.223905849 0.118939402 0.0703058488 0.0448653282 0.0303225085 0.0214278282 "
        "0.0156905927 0.0118278282");
  NUMPY("sp.beta(f, np.float32(2))", sp::beta(f, 2.f), "float32 (2, 2) 0.5 0.166666672 0.0833333358 0.0500000007");
  NUMPY("sp.xlogy(f, f)", sp::xlogy(f, f), "float32 (2, 2) 0 1.38629436 3.29583693 5.54517746");
  NUMPY("sp.zeta(f + np.float32(1), f)", sp::zeta(f + 1, f),
        "float32 (2, 2) 1.64493406 0.2020569 0.0198232345 0.00156252878");
  BOOST_CHECK_THROW(sp::polygamma(-1, a), nd::ValueError);
  BOOST_CHECK_THROW(sp::beta(a, v), nd::ValueError);
  BOOST_CHECK_THROW(sp::gamma(z), nd::TypeError);
  const nd::Array out = nd::empty({3, 4});
  sp::erf(a, {.out = out});
  BOOST_TEST(bool(nd::array_equal(out, nd::erf(a))));
  BOOST_CHECK_THROW(sp::erf(a, {.out = nd::empty({4})}), nd::ValueError);
  BOOST_TEST(bool(nd::array_equal(nd::lgamma(a), sp::gammaln(a))));
  BOOST_TEST(bool(nd::array_equal(nd::tgamma(a), sp::gamma(a))));
}

BOOST_FIXTURE_TEST_CASE(along_axes, test::NumpyScene) {
  // numpy: import scipy.special as sp
  NUMPY("sp.logsumexp(b)", sp::logsumexp(b), "float64 () 6.22246841");
  NUMPY("sp.logsumexp(b, axis=1)", sp::logsumexp(b, {.axis = 1}), "float64 (3) 3.3840917 4.07214228 6.03013681");
  NUMPY("sp.logsumexp(q, (0, 2), keepdims=True)", sp::logsumexp(q, {0, 2}, {}, true),
        "float64 (1, 3, 1) 15.4401958 19.4401958 23.4401958");
  NUMPY("sp.logsumexp(b, 0, a)", sp::logsumexp(b, 0, a), "float64 (4) 3.18085579 5.11514042 7.71013591 4.49581852");
  NUMPY("sp.logsumexp(b, b=m)", sp::logsumexp(b, {.b = m}), "float64 () 6.16216561");
  NUMPY("sp.logsumexp(np.array([1000., 1000.]))", sp::logsumexp(nd::array({1000., 1000.})), "float64 () 1000.69315");
  NUMPY("sp.logsumexp(np.array([-np.inf, -np.inf]))", sp::logsumexp(nd::array({-nd::inf, -nd::inf})),
        "float64 () -inf");
  NUMPY("sp.logsumexp(g, axis=1)", sp::logsumexp(g, 1), "float64 (3) nan nan 5.04858735");
  NUMPY("sp.logsumexp(h[2:])", sp::logsumexp(h(nd::Slice(2, nd::None))), "float64 () inf");
  NUMPY("sp.logsumexp(d)", sp::logsumexp(d), "float64 () 7.47977839");
  NUMPY("sp.logsumexp(f, 0)", sp::logsumexp(f, 0), "float32 (2) 3.12692809 4.12692785");
  NUMPY("sp.softmax(b)", sp::softmax(b),
        "float64 (3, 4) 0.014662407 0.00072999826 0.00327162522 0.0398565545 0.000162884629 0.108341348 "
        "0.00539399809 0.00254794429 0.00889319939 0.00093733632 0.800540297 0.014662407");
  NUMPY("sp.softmax(b, axis=0)", sp::softmax(b, 0),
        "float64 (3, 4) 0.618184647 0.00663582404 0.00404300703 0.698418005 0.0068674111 0.984843609 0.00666579168 "
        "0.0446483693 0.374947942 0.00852056673 0.989291201 0.256933625");
  NUMPY("sp.softmax(q, (0, 2))", sp::softmax(q, {0, 2}),
        "float64 (2, 3, 4) 1.96973656e-07 5.3542991e-07 1.45544939e-06 3.95632164e-06 1.96973656e-07 5.3542991e-07 "
        "1.45544939e-06 3.95632164e-06 1.96973656e-07 5.3542991e-07 1.45544939e-06 3.95632164e-06 0.0320584063 "
        "0.0871437833 0.236881363 0.643910304 0.0320584063 0.0871437833 0.236881363 0.643910304 0.0320584063 "
        "0.0871437833 0.236881363 0.643910304");
  NUMPY("sp.softmax(t, -1)", sp::softmax(t, -1),
        "float64 (4, 2, 2) 0.00033535013 0.99966465 0.00033535013 0.99966465 0.00033535013 0.99966465 0.00033535013 "
        "0.99966465 0.00033535013 0.99966465 0.00033535013 0.99966465 0.00033535013 0.99966465 0.00033535013 "
        "0.99966465");
  NUMPY("sp.softmax(d, 1)", sp::softmax(d, 1),
        "float64 (3, 4) 0.64391426 0.0871443187 0.236882818 0.0320586033 0.870465068 0.0058651475 0.0058651475 "
        "0.117804637 0.00565330266 0.839024507 0.113549619 0.0417725705");
  NUMPY("sp.softmax(f, 1)", sp::softmax(f, 1), "float32 (2, 2) 0.268941402 0.731058598 0.268941402 0.731058598");
  NUMPY("sp.log_softmax(b, axis=1)", sp::log_softmax(b, 1),
        "float64 (3, 4) -1.3840917 -4.3840917 -2.8840917 -0.384091701 -6.57214228 -0.0721422768 -3.07214228 "
        "-3.82214228 -4.53013681 -6.78013681 -0.0301368051 -4.03013681");
  NUMPY("sp.log_softmax(t)", sp::log_softmax(t),
        "float64 (4, 2, 2) -20.4405312 -12.4405312 -8.44053125 -0.440531249 -21.4405312 -13.4405312 -9.44053125 "
        "-1.44053125 -22.4405312 -14.4405312 -10.4405312 -2.44053125 -23.4405312 -15.4405312 -11.4405312 -3.44053125");
  BOOST_CHECK_THROW(sp::softmax(a, 2), nd::ValueError);
  BOOST_CHECK_THROW(sp::softmax(z), nd::TypeError);
  BOOST_CHECK_THROW(sp::logsumexp(z), nd::TypeError);
  BOOST_TEST((sp::softmax(e3, 1).shape() == nd::Shape{0, 3}));
}

// Narrow floats are computed at least in float32 and rounded once; integers give the floats that hold them.
BOOST_FIXTURE_TEST_CASE(narrow_dtypes, test::NumpyScene) {
  using Function = nd::Array (*)(const nd::Operand&, const nd::UfuncOptions&);
  const Function functions[] = {sp::erf,     sp::erfc,    sp::erfinv, sp::erfcinv, sp::ndtr,  sp::ndtri,     sp::gamma,
                                sp::gammaln, sp::digamma, sp::j0,     sp::j1,      sp::y0,    sp::y1,        sp::i0,
                                sp::i0e,     sp::i1,      sp::i1e,    sp::expit,   sp::logit, sp::log_expit, sp::entr};
  const nd::Array x = nd::array({0.125, 0.25, 0.5, 0.625, 0.875});
  for (const Function f : functions)
    for (const nd::Dtype dtype : {nd::float16, nd::bfloat16}) {
      const nd::Array narrow = f(x.astype(dtype), {}), wide = f(x.astype(nd::float32), {});
      BOOST_TEST((narrow.dtype() == dtype));
      BOOST_TEST(bool(nd::allclose(narrow.astype(nd::float32), wide, dtype == nd::float16 ? 5e-4 : 4e-3, 1e-7)));
      BOOST_TEST(bool(nd::allclose(wide, f(x, {}), 4e-7, 1e-7)));
    }
  BOOST_TEST((sp::gamma(d.astype(nd::int8)).dtype() == nd::float16));
  BOOST_TEST((sp::gamma(d.astype(nd::uint16)).dtype() == nd::float32));
  BOOST_TEST((sp::gamma(d).dtype() == nd::float64));
}

nd::Array powers(double from, double to, int n) { return nd::exp(nd::linspace(std::log(from), std::log(to), n)); }
void check_close(const nd::Array& x, const nd::Array& y, double rtol) { BOOST_TEST(bool(nd::allclose(x, y, rtol, 0))); }

// Identities on both sides of the borders between the formulas.
BOOST_AUTO_TEST_CASE(identities) {
  const nd::Array x = powers(1e-5, 60, 4001), y = nd::linspace(-30.003, 30.005, 4001);
  check_close(sp::gamma(x + 1), x * sp::gamma(x), 1e-13);
  check_close(sp::gamma(y) * sp::gamma(1 - y) * y * nd::sinc(y), nd::ones_like(y), 1e-12);
  check_close(nd::exp(sp::gammaln(x)), sp::gamma(x), 1e-13);
  check_close(sp::gammaln(powers(20, 1e6, 2000) + 1) - sp::gammaln(powers(20, 1e6, 2000)),
              nd::log(powers(20, 1e6, 2000)), 2e-9);
  check_close(x * sp::digamma(x + 1) + 2, x * sp::digamma(x) + 3, 1e-13);
  check_close(sp::erf(sp::erfinv(nd::tanh(y / 3))), nd::tanh(y / 3), 1e-14);
  check_close(sp::erfc(sp::erfcinv(powers(1e-300, 1, 3000))), powers(1e-300, 1, 3000), 1e-12);
  check_close(sp::ndtr(sp::ndtri(powers(1e-300, 0.99, 3000))), powers(1e-300, 0.99, 3000), 1e-12);
  check_close(sp::i0e(y), sp::i0(y) * nd::exp(-nd::abs(y)), 1e-14);
  check_close(sp::i1e(y), sp::i1(y) * nd::exp(-nd::abs(y)), 1e-14);
  const nd::Array above_one = powers(1e-5, 5, 2000) + 1;
  check_close(sp::zeta(above_one, 2.0), sp::zeta(above_one) - 1, 1e-12);
  check_close(sp::beta(x, 3.0), 2 / (x * (x + 1) * (x + 2)), 1e-13);
  check_close(sp::beta(x, 30.0), sp::beta(30.0, x), 0);
  check_close(nd::exp(sp::betaln(x, 30.0)), sp::beta(x, 30.0), 1e-13);
  check_close(sp::logit(sp::expit(nd::linspace(-5, 5, 1001)(nd::Slice(501, nd::None)))),
              nd::linspace(-5, 5, 1001)(nd::Slice(501, nd::None)), 1e-12);
}

// gamma of integers is exact, and so are the values at which functions are zero.
BOOST_AUTO_TEST_CASE(exact_values) {
  double factorial = 1;
  for (int n = 1; n < 23; ++n) {
    BOOST_TEST(sp::gamma(double(n)).item<double>() == factorial);
    factorial *= n;
  }
  BOOST_TEST(sp::gammaln(1.0).item<double>() == 0);
  BOOST_TEST(sp::gammaln(2.0).item<double>() == 0);
  BOOST_TEST(sp::erfinv(0.0).item<double>() == 0);
  BOOST_TEST(sp::ndtri(0.5).item<double>() == 0);
  BOOST_TEST(sp::zeta(-4.0).item<double>() == 0);
  BOOST_TEST(nd::sinc(3.0).item<double>() == 0);
}

BOOST_AUTO_TEST_SUITE_END()

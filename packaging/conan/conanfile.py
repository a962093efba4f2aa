"""Catena for Conan 2: conan create packaging/conan. The sources are those around this file."""
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir
from conan.tools.scm import Version
from conan.tools.system.package_manager import Apt

required_conan_version = ">=2.0"


class CatenaConan(ConanFile):
    name = "catena"
    description = "n-dimensional arrays like NumPy's and define-by-run neural networks"
    license = "MIT"
    topics = ("array", "numpy", "neural-network", "autograd", "cuda")
    package_type = "library"
    settings = "os", "compiler", "build_type", "arch"
    options = {
        "shared": [True, False],
        "training": [True, False],              # autograd, nn and training beside ndarray
        "dependencies": ["conan", "system"],    # where the libraries that Catena uses come from
        "openblas": [True, False],
        "onednn": [True, False],
        "hdf5": [True, False],
        "images": [True, False],
        "curl": [True, False],
    }
    default_options = {
        "shared": True, "training": True, "dependencies": "conan",
        "openblas": True, "onednn": False, "hdf5": False, "images": True, "curl": True,
    }

    def _root(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        header = load(self, os.path.join(self._root(), "kernels", "base", "version.h"))
        self.version = ".".join(re.findall(r"#define CATENA_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "catena.h", "*.md", "*.cff", "LICENSE", "NOTICE"):
            copy(self, pattern, self._root(), self.export_sources_folder, keep_path=False, excludes=("*/*",))
        for folder in ("cmake", "kernels", "ndarray", "autograd", "nn", "training", "packaging", "examples"):
            copy(self, "*", os.path.join(self._root(), folder), os.path.join(self.export_sources_folder, folder))

    def configure(self):
        if not self.options.training:
            for name in ("hdf5", "images", "curl"):
                self.options.rm_safe(name)

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("Catena is for Linux")
        if self.settings.compiler == "gcc" and Version(self.settings.compiler.version) < 12:
            raise ConanInvalidConfiguration("Catena needs g++ 12 or newer")
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def _uses(self, name):
        return bool(self.options.get_safe(name))

    def requirements(self):
        if self.options.dependencies == "system":
            return
        self.requires("zlib/[>=1.2.11 <2]")
        self.requires("fmt/[>=9 <12]", visible=False)
        if self.options.training:
            self.requires("nlohmann_json/[>=3.10 <4]", visible=False)
        if self._uses("openblas"):
            self.requires("openblas/[>=0.3.20 <1]")
        if self._uses("onednn"):
            self.requires("onednn/[>=2.6 <4]")
        if self._uses("hdf5"):
            self.requires("hdf5/[>=1.10 <2]")
        if self._uses("images"):
            self.requires("libpng/[>=1.6 <2]")
            self.requires("libjpeg-turbo/[>=2 <4]")
        if self._uses("curl"):
            self.requires("libcurl/[>=7.80 <9]")

    def system_requirements(self):
        if self.options.dependencies == "conan":
            return
        packages = ["zlib1g-dev", "libfmt-dev"]
        if self.options.training:
            packages += ["nlohmann-json3-dev"]
        for name, needed in (("openblas", ["libopenblas-openmp-dev"]), ("onednn", ["libdnnl-dev"]), ("hdf5", ["libhdf5-dev"]),
                             ("images", ["libpng-dev", "libjpeg-dev"]), ("curl", ["libcurl4-openssl-dev"])):
            if self._uses(name):
                packages += needed
        Apt(self).install(packages, check=True)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        components = "ndarray;autograd;nn;training" if self.options.training else "ndarray"
        toolchain.cache_variables["CATENA_COMPONENTS"] = components
        for name in ("tests", "examples", "benchmarks"):
            toolchain.cache_variables[f"CATENA_BUILD_{name.upper()}"] = False
        for name in ("openblas", "onednn", "hdf5", "images", "curl"):
            toolchain.cache_variables[f"CATENA_WITH_{name.upper()}"] = self._uses(name)
        toolchain.cache_variables["CATENA_WITH_CUDA_TOOLKIT"] = False
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        for name in ("LICENSE", "NOTICE"):
            copy(self, name, self.source_folder, os.path.join(self.package_folder, "licenses"))
        rmdir(self, os.path.join(self.package_folder, "share"))

    def package_info(self):
        # Programs find the package by its own files, which know its components: find_package(catena COMPONENTS ndarray).
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "catena")]
        self.cpp_info.libs = ["catena_training" if self.options.training else "catena_ndarray"]

"""Runs the test suite of the Python array API standard, data-apis/array-api-tests, on the module.

    CATENA_ARRAY_API_TESTS=<a checkout with its submodule> PYTHONPATH=build/release/python python3 tests/python/array_api_test.py [options]

Options go to pytest, such as --max-examples 100 (default: 5 examples of each test). Without a checkout, pytest or hypothesis a line
says that the test is skipped. The tests that may fail are in array_api_xfails.txt, each with the reason.
"""
import importlib.util
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def missing():
    suite = os.environ.get('CATENA_ARRAY_API_TESTS', '')
    if not suite:
        return 'CATENA_ARRAY_API_TESTS names no checkout of data-apis/array-api-tests'
    for part in ('conftest.py', 'array_api_tests', os.path.join('array-api', 'src')):
        if not os.path.exists(os.path.join(suite, part)):
            return '%s has no %s' % (suite, part)
    for module in ('pytest', 'hypothesis', 'ndindex', 'numpy', 'pytest_jsonreport'):
        if importlib.util.find_spec(module) is None:
            return 'Python has no module %s' % module
    return None


def main(options):
    reason = missing()
    if reason:
        print('skipped: array-api-tests: ' + reason)
        return 0
    command = [sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '--tb=short', '--disable-deadline',
               '--derandomize', '--xfails-file', os.path.join(HERE, 'array_api_xfails.txt')]
    if not any(o.startswith('--max-examples') for o in options):
        command += ['--max-examples', '5']
    environment = dict(os.environ, ARRAY_API_TESTS_MODULE='catena', PYTHONDONTWRITEBYTECODE='1')
    folders = [os.path.abspath(f) for f in environment.get('PYTHONPATH', '').split(os.pathsep) if f]
    environment['PYTHONPATH'] = os.pathsep.join(folders)
    return subprocess.call(command + options + ['array_api_tests'], cwd=os.environ['CATENA_ARRAY_API_TESTS'], env=environment)


sys.exit(main(sys.argv[1:]))

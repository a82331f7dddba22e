import subprocess
import sys


def call():
    subprocess.run([sys.executable, "-c", "raise LookupError('inner')"], check=True)


call()

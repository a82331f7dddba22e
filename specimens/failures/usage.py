import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--mode", choices=["fast", "slow"])
parser.parse_args(["--mode", "medium"])

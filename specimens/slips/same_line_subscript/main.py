"""The ports of services, and of what they lean on."""

import json
import sys

PORTS = {"web": 80, "db": 5432, "cache": 6379}


def port(service: dict, ports: dict) -> int:
    return ports[service["kind"]] + ports[service["behind"]]


for service in json.load(open(sys.argv[1])):
    print(service["name"], port(service, PORTS))

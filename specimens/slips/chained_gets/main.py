"""Where each user's replies go."""

import json
import sys

for user in json.load(open(sys.argv[1])):
    print(user.get("profile").get("contact").get("mail"))

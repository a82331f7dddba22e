"""What was changed on the way holds things of other records: none of them is said to be where a value comes from."""

from pathlib import Path

from recorded_runs import clues

TEAMS = """\
import csv


class Team:
    members = []

    def __init__(self, name):
        self.name = name
        self.points = []

    def scored(self, player, points):
        self.members.append(player)
        self.points.append(points)

    def mean(self):
        return sum(self.points) / len(self.members)


teams = {}
for row in csv.DictReader(open("games.csv")):
    team = teams.setdefault(row["team"], Team(row["team"]))
    team.scored(row["player"], int(row["points"]))
means = {name: team.mean() for name, team in teams.items()}
if means["red"] != 6:
    raise ValueError(f"red has a mean of {means['red']}")
"""
GAMES = "team,player,points\nred,ann,4\nred,bea,8\nblue,cyd,5\nblue,dan,7\n"


def test_the_record_of_a_key_is_not_where_a_value_made_of_many_comes_from(tmp_path: Path) -> None:
    found = clues(tmp_path, TEAMS, games_csv=GAMES)
    assert found
    assert not [each.record for each in found if each.record]

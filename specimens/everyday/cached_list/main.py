"""Who is on duty in the coming days."""

from roster import on_duty, team_of

DAYS = ["mon", "tue", "wed", "thu"]


def swap(names, absent):
    if absent in names:
        names.remove(absent)
    return names


def plan(team):
    duties = {}
    for day in DAYS:
        names = team_of(team)
        if day == "tue":
            names = swap(names, "ines")
        duties[day] = on_duty(names, day)
    return duties


def main():
    duties = plan("night")
    assert duties["wed"] == "ines", f"wednesday is for ines, not {duties['wed']}"
    for day, name in duties.items():
        print(day, name)


if __name__ == "__main__":
    main()

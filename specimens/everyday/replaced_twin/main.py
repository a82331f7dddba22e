"""Plan the nightly copies as the settings say."""

from settings import load


def plan(settings):
    jobs = []
    for number, folder in enumerate(settings["folders"]):
        start = settings["first_hour"] * 60 + number * settings["every_minutes"]
        jobs.append((start // 60 % 24, start % 60, folder))
    return jobs


def main():
    settings = load("backup.ini")
    for hour, minute, folder in plan(settings):
        print(f"{hour:02d}:{minute:02d} {folder}, kept {settings['keep_days']} days")


if __name__ == "__main__":
    main()

"""``theodolite robots``: the built-in robots."""

from __future__ import annotations

from theodolite.cli.options import JsonOption, console, print_json

NAME = "robots"


def command(json: JsonOption = False) -> None:
    """List the built-in robots."""
    from theodolite import robots
    from theodolite.report.terminal_table import Table

    loaded = [robots.load(name) for name in robots.NAMES]
    if json:
        print_json(
            {
                "robots": [
                    {
                        "name": robot.name,
                        "joints": "".join("RP"[kind] for kind in robot.joint_types),
                        "parameters": len(robot.parameters),
                        "source": robot.source,
                    }
                    for robot in loaded
                ]
            }
        )
        return
    table = Table(title="Built-in robots", title_justify="left")
    for heading in ("name", "joints", "parameters", "source"):
        table.add_column(heading, overflow="fold")
    for robot in loaded:
        kinds = "".join("RP"[kind] for kind in robot.joint_types)
        table.add_row(robot.name, kinds, str(len(robot.parameters)), robot.source)
    screen = console(json=False)
    screen.soft_wrap = False
    screen.print(table)

"""The process that the kill tests kill: asks a whole benchmark of a server, prints what it got as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from asks import backend, instances


def main() -> None:
    address, problems, repeats, others, settings = sys.argv[1:]
    asked = instances(
        [f"problem {number}" for number in range(int(problems))], task="code_10", repeats=int(repeats)
    )
    asked += instances([f"exercise {number}" for number in range(int(others))], task="math")
    lm = backend(address, thinking="adaptive", effort="high", **json.loads(settings))
    replies = lm.generate_until(asked)
    records = [
        [record.custom_id, record.task, record.outcome, record.thinking_chars] for record in lm.reply_records
    ]
    print(json.dumps({"replies": replies, "records": records, "ledger": str(lm.ledger_path)}))


if __name__ == "__main__":
    main()

"""lm-eval's generate_until requests go in, replies of a Claude model come out, by the batch and kill-safe."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval.api.model import LM
from lm_eval.models.api_models import JsonChatStr

from .batch_ledger import BatchLedger
from .cost import estimate
from .faults import BackendFault, DryRunFinished
from .prices import load_prices
from .replies import ReplyRecord, ReplyText, reply_record
from .requests import Ask, Request, build_requests, unsent
from .settings import Settings, read_settings
from .state_folder import runs_folder

if TYPE_CHECKING:
    import anthropic
    from lm_eval.api.instance import Instance

# What run.json says of the settings.
RECORDED_SETTINGS = (
    "model",
    "max_tokens",
    "thinking",
    "budget_tokens",
    "thinking_display",
    "effort",
    "temperature",
    "system",
    "run",
    "batch",
)
NO_LOGPROBS = "anthropic-batches answers generate_until tasks only: the API gives no log-probabilities"


class AnthropicBatches(LM):  # type: ignore[misc]  # lm-eval ships no type hints
    """``--model anthropic-batches``: Claude over Message Batches, or plain Messages with ``batch=false``.

    After ``generate_until``: ``reply_records`` has one record for each reply, in the same order, and
    ``ledger_path`` is the run's folder.
    """

    def __init__(self, **model_args: Any) -> None:
        super().__init__()
        self.settings = read_settings(model_args)
        self.reply_records: list[ReplyRecord] = []
        self.ledger_path: Path | None = None
        self.run_key: str | None = None

    # ---- what lm-eval asks of every model

    @property
    def tokenizer_name(self) -> str:
        """Names the chat format in lm-eval's request cache."""
        return "anthropic-messages"

    def apply_chat_template(
        self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True
    ) -> JsonChatStr:
        """Hand a chat through as JSON: the API takes turns, not a rendered prompt."""
        return JsonChatStr(json.dumps(chat_history, ensure_ascii=False))

    def loglikelihood(self, requests: list[Instance], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        """Refuse: the Messages API gives no log-probabilities."""
        raise BackendFault(NO_LOGPROBS)

    def loglikelihood_rolling(self, requests: list[Instance], disable_tqdm: bool = False) -> list[float]:
        """Refuse: the Messages API gives no log-probabilities."""
        raise BackendFault(NO_LOGPROBS)

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        """Answer every request; a request that cannot be answered gets "" and a record that says why.

        Raises BackendFault when the API refuses all of them, or when a decision of the user is needed.
        Whatever was paid for is in the ledger by then.
        """
        if not requests:
            return []
        client = make_client(self.settings)
        asks = [_ask(instance) for instance in requests]
        self.run_key, wire = build_requests(self.settings, _place(client), asks)
        if self.settings.dry_run:
            self._dry_run(wire)
        ledger = BatchLedger(runs_folder() / self.run_key)
        self.ledger_path = ledger.folder
        try:
            self._answer(client, ledger, asks, wire, quiet=disable_tqdm)
            self.reply_records = _records(ledger, wire)
        finally:
            ledger.close()
        _say(f"{_summary(self.reply_records)}; state in {ledger.folder}")
        _refuse_if_all_refused(self.reply_records)
        return [ReplyText(record.reply, record.journal_fields()) for record in self.reply_records]

    # ---- steps

    def _answer(
        self,
        client: anthropic.Anthropic,
        ledger: BatchLedger,
        asks: Sequence[Ask],
        wire: Sequence[Request],
        *,
        quiet: bool,
    ) -> None:
        from .batch_run import BatchRun
        from .model_check import check_model
        from .plain_run import PlainRun

        with _progress(len(wire), quiet=quiet) as bar:

            def on_result(custom_id: str) -> None:
                if run.is_final(custom_id):
                    bar.update(1)

            run = BatchRun(client, self.settings, ledger, wire, on_result=on_result)
            todo = run.pending()
            answered = sum(run.is_final(request.custom_id) for request in wire)
            bar.update(answered)
            _say(f"run {self.run_key}, state in {ledger.folder}")
            if answered:
                _say(
                    f"{answered} of {len(wire)} requests are answered from this run's earlier work; "
                    "run=NAME would ask anew"
                )
            _say_under_way(ledger)
            if todo:
                for note in unsent(self.settings, asks):
                    _say(note)
                if self.settings.preflight:
                    check_model(client, self.settings, todo)
                _say(self._estimate(todo))
            ledger.write_run(_run_facts(self.settings, self.run_key or "", len(wire)), wire)
            run.finish(submit=self.settings.batch)
            if not self.settings.batch:
                PlainRun(client, self.settings, ledger, on_result=on_result).finish(run.pending())

    def _estimate(self, wire: Sequence[Request]) -> str:
        prices = load_prices(self.settings.prices)
        return "to send: " + estimate(wire, prices, batch=self.settings.batch, day=_today()).text()

    def _dry_run(self, wire: Sequence[Request]) -> None:
        text = self._estimate(wire)
        print(f"dry run, nothing sent. {text}")
        raise DryRunFinished(text)


def make_client(settings: Settings) -> anthropic.Anthropic:
    """The SDK's client for the settings; keys come from the environment alone.

    It never repeats a request by itself: whether a repetition is safe is decided here, call by call.
    """
    try:
        import anthropic
    except ImportError:
        raise BackendFault("the package anthropic is missing: pip install 'lm-eval-strict[api]'") from None
    headers = {"anthropic-version": settings.api_version} if settings.api_version else None
    client = anthropic.Anthropic(
        base_url=settings.base_url, max_retries=0, timeout=settings.timeout_s, default_headers=headers
    )
    if client.api_key is None and client.auth_token is None and client.credentials is None:
        raise BackendFault("no key for the Claude API: set ANTHROPIC_API_KEY in the environment")
    return client


def _ask(instance: Instance) -> Ask:
    context, gen_kwargs = instance.args[:2]
    if isinstance(context, JsonChatStr):
        context = json.loads(context.prompt)
    return Ask(context, gen_kwargs, task=instance.task_name, doc_id=instance.doc_id)


def _place(client: anthropic.Anthropic) -> str:
    """The server's address without user name and password."""
    url = client.base_url
    return f"{url.scheme}://{url.host}{f':{url.port}' if url.port else ''}{url.path}".rstrip("/")


def _records(ledger: BatchLedger, wire: Sequence[Request]) -> list[ReplyRecord]:
    records = [reply_record(request, ledger.lines(request.custom_id)) for request in wire]
    missing = sum(record is None for record in records)
    if missing:
        raise BackendFault(f"{missing} requests have no result; the same command goes on from here")
    return [record for record in records if record is not None]


def _refuse_if_all_refused(records: Sequence[ReplyRecord]) -> None:
    """A run of which nothing was answered is a mistake in the settings, not a score of zero."""
    if any(record.outcome == "succeeded" for record in records):
        return
    first = records[0]
    reason = (first.error or {}).get("message") or first.outcome
    raise BackendFault(
        f"none of {len(records)} requests was answered; the first says: {reason} "
        "(retry_failed=true asks them again)"
    )


def _summary(records: Sequence[ReplyRecord]) -> str:
    failed = [record for record in records if record.outcome != "succeeded"]
    cut = sum(record.truncated == "yes" for record in records)
    text = f"{len(records) - len(failed)} of {len(records)} requests answered"
    if cut:
        text += f", {cut} replies cut at max_tokens"
    if failed:
        outcomes = sorted({record.outcome for record in failed})
        text += f", {len(failed)} without a reply ({', '.join(outcomes)})"
    return text


def _run_facts(settings: Settings, key: str, count: int) -> dict[str, Any]:
    import anthropic

    return {
        "run_key": key,
        "requests": count,
        "created_at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "sdk": f"anthropic {anthropic.__version__}",
        "settings": {name: getattr(settings, name) for name in RECORDED_SETTINGS},
    }


def _say_under_way(ledger: BatchLedger) -> None:
    events = ledger.events
    if events.outstanding:
        _say(f"going on with {', '.join(events.outstanding)}, submitted before")
    if events.open_intents:
        _say("looking for a batch whose submission was cut short before")


def _today() -> str:
    return datetime.now(timezone.utc).date().isoformat()


def _say(text: str) -> None:
    print(f"anthropic-batches: {text}", file=sys.stderr, flush=True)


def _progress(total: int, *, quiet: bool) -> Any:
    from tqdm import tqdm

    return tqdm(total=total, desc="anthropic-batches", unit="reply", disable=quiet or not sys.stderr.isatty())

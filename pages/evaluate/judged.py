"""The verdicts of a language model on answers, compared with the verifier and the labels."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from pages.shared.text import escape_markdown
from pages.shared.translation import _, format_number, ngettext, translate_message
from rag_core.types.evaluation import Evaluation
from rag_core.types.judgements import JudgeReport, StatementVerdict

_SHOWN = 20


def show_judge_reports(evaluations: Sequence[Evaluation]) -> None:
    """Show the verdicts of each evaluation's judge: warning, cost, agreement with the verifier, and disagreements."""
    for evaluation in evaluations:
        if evaluation.judge_report:
            title = (
                _("Judge of {configuration}", configuration=evaluation.configuration)
                if len(evaluations) > 1
                else _("Judge")
            )
            st.header(escape_markdown(title), anchor=False)
            _show_report(evaluation.judge_report, evaluation.evaluation_id)


def _show_report(report: JudgeReport, key: str) -> None:
    if report.warning:
        st.warning(escape_markdown(translate_message(report.warning)), icon=":material/balance:")
    for note in report.notes:
        if note != report.warning:
            st.caption(escape_markdown(translate_message(note)))
    if report.agreements:
        st.dataframe(
            _build_agreement_table(report),
            hide_index=True,
            height="content",
            column_config={_("Raters"): st.column_config.TextColumn(width="medium", pinned=True)},
            key=f"agreement_{key}",
            alt=_("Agreement of the judge with the verifier and with the labels"),
        )
        st.caption(
            _(
                "Yes means: a statement is supported; a passage is useful, or on a labelled page; all statements "
                "of an answer are supported, or it contains the expected answer. Kappa (Cohen) is the agreement "
                "beyond chance: 1 is full agreement, 0 is chance, and it is undefined if both always say the "
                "same."
            )
        )
    _show_disagreements(report.statements)


def _build_agreement_table(report: JudgeReport) -> pd.DataFrame:
    rows = [
        (
            translate_message(one.raters),
            _("undefined") if one.kappa is None else format_number(one.kappa, 2),
            f"{100 * one.share:.0f} %",
            one.both_positive,
            one.first_only,
            one.second_only,
            one.both_negative,
        )
        for one in report.agreements
    ]
    columns = [
        _("Raters"),
        _("Kappa"),
        _("Agree"),
        _("Both yes"),
        _("Only the judge"),
        _("Only the other"),
        _("Both no"),
    ]
    return pd.DataFrame(rows, columns=columns)


def _show_disagreements(statements: Sequence[StatementVerdict]) -> None:
    """List the statements on which the judge and the verifier differ, and those that were not judged."""
    listed = [one for one in statements if one.judge is not one.verifier]
    if not listed:
        return
    label = ngettext(
        "{number} statement on which judge and verifier differ",
        "{number} statements on which judge and verifier differ",
        len(listed),
    )
    with st.expander(label, type="compact"):
        for one in listed[:_SHOWN]:
            with st.container(border=True, gap="xsmall"):
                st.text(one.statement)
                verdict = {True: _("supported"), False: _("not supported"), None: _("not judged")}
                reason = f" ({one.reason})" if one.reason else ""
                words = _(
                    "Judge: {judge}{reason} · verifier: {verifier}  \n{question}",
                    judge=verdict[one.judge],
                    reason=reason,
                    verifier=verdict[one.verifier],
                    question=one.question,
                )
                st.caption(escape_markdown(words))
        if len(listed) > _SHOWN:
            st.caption(_("The first {shown} are shown. A report of the command line (--out) has all.", shown=_SHOWN))

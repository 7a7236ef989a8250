"""Scoring: from prediction and gold files to figures. Pure functions of files, without torch."""

from xharness.scoring.scores import PROFILES, TaskScores, score_submission, score_task
from xharness.scoring.seqeval_check import check_with_seqeval

__all__ = ["PROFILES", "TaskScores", "check_with_seqeval", "score_submission", "score_task"]

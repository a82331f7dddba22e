"""Each move by which an expert gets a signal is shown by a test that runs a real program.

The moves are those of the methods that whet was made from: getting a usable signal out of a failure, looking
into a hang, living with races, synchronous mode, sleeping, the right file, system calls.
"""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
MOVES = {
    "an error without a word: the values of the frames": (
        "agent/test_failures.py::test_the_values_of_the_failing_frames_are_kept",
        "cli/evidence/test_post_mortem.py::test_show_tells_what_the_variables_held",
    ),
    "an error without a word: a debugger, where it failed": (
        "cli/evidence/test_post_mortem.py::test_pdb_opens_in_the_innermost_frame_of_the_user_and_walks_up",
    ),
    "a small tensor can be read, a large one is told in a line": (
        "ml/test_locals.py::test_a_tensor_is_one_line",
    ),
    "an error that follows from an earlier one": (
        "endtoend/test_hidden_causes.py::test_the_line_of_a_hidden_cause_is_named",
    ),
    "a crash without a stack": (
        "cli/evidence/test_stacks.py::test_a_crash_has_its_python_line_without_an_option",
        "cli/evidence/test_stacks.py::test_a_core_file_tells_the_native_stack_and_python_s_or_why_not",
    ),
    "a hang: attach to the process that hangs": (
        "cli/evidence/test_stacks.py::test_a_running_process_is_found",
        "host/looks/test_spying.py::test_all_threads_are_seen_the_main_one_first",
    ),
    "a hang in C: gdb": ("host/looks/test_spying.py::test_gdb_tells_of_what_is_no_python",),
    "a hang where nothing may be attached": (
        "host/looks/test_spying.py::test_where_ptrace_is_forbidden_the_agent_tells_all_threads",
    ),
    "a hang of many ranks: which one stands elsewhere": (
        "cli/evidence/test_stacks.py::test_a_stuck_rank_stands_apart_from_those_that_wait_for_it",
        "ml/test_hidden_rank.py::test_the_line_of_a_stuck_rank_is_named",
    ),
    "a deadlock: who waits for whom": (
        "cli/evidence/test_stacks.py::test_a_deadlock_of_two_locks_names_both_lines",
        "cli/evidence/test_pipe_circles.py::test_who_waits_for_whom_at_a_pipe_is_named",
        "agent/test_closer.py::test_a_lock_that_is_never_given_back_is_told_while_the_program_hangs",
    ),
    "a hang that is waited for by nobody": (
        "host/processes/test_hang_detector.py::test_what_waits_without_an_end_is_stuck",
        "endtoend/test_hidden_causes.py::test_the_line_of_any_hidden_cause_is_named",
    ),
    "a race: look without stopping, then repeat": (
        "endtoend/test_hidden_causes.py::test_the_line_of_any_hidden_cause_is_named",
    ),
    "a race: take the disorder away": (
        "cli/repeat/test_toggle.py::test_a_race_of_a_pool_is_gone_with_one_thread",
    ),
    "one process, one thread, one device": (
        "cli/repeat/test_toggle.py::test_pools_of_processes_have_one_process",
        "cli/repeat/test_toggle.py::test_the_most_simplifying_switches_under_which_it_still_fails_are_found",
    ),
    "asynchronous things made synchronous": (
        "cli/repeat/test_toggle.py::test_the_fewest_switches_that_change_a_failure_are_found",
        "ml/test_torch_toggles.py::test_anomaly_mode_names_the_forward_call_of_a_gradient_that_is_no_number",
    ),
    "a switch that nothing reads has not taken": (
        "cli/repeat/test_toggle.py::test_what_nothing_in_the_program_reads_did_not_take",
    ),
    "am I editing the right file: it ran, or it did not": (
        "cli/evidence/test_where.py::test_a_module_that_is_never_loaded_says_so",
        "cli/evidence/test_where.py::test_calls_are_counted_and_the_first_caller_is_named",
    ),
    "am I editing the right file: the installed one, or mine": (
        "cli/evidence/test_where.py::test_a_run_tells_that_another_copy_was_loaded",
        "cli/evidence/test_where.py::test_an_editable_install_is_told_as_such",
    ),
    "am I editing the right class": (
        "cli/evidence/test_where.py::test_a_run_tells_that_an_override_ran_instead",
        "evidence/test_clues.py::test_the_override_that_leaves_out_what_sets_an_attribute_is_told",
    ),
    "every edit is saved before it is tried": (
        "cli/loop/test_late_saves.py::test_each_verb_tells_of_changes_that_an_editor_holds",
        "cli/loop/test_late_saves.py::test_a_file_that_was_saved_after_it_was_read_is_told",
    ),
    "no space left, and no word of which file": (
        "endtoend/test_hidden_causes.py::test_the_write_that_fills_a_disk_is_named_where_the_program_hides_it",
    ),
}
"""Tests by what they show, each as pytest names it. Those of probes, system calls and amplified
races stand with their verbs."""


HIDDEN = "endtoend/test_hidden_causes.py"
SYMPTOMS = {
    "any exception": (f"{HIDDEN}::test_the_line_of_a_hidden_cause_is_named",),
    "`KeyError`, `AttributeError`, a missing key for which `get` gave `None`": (
        "evidence/test_provenance.py::test_the_first_clue_names_the_line_that_made_the_bad_value",
        "evidence/test_misspelt_keys.py::test_the_spelling_that_is_written_less_often_is_named_with_the_other",
        "evidence/test_misspelt_keys.py::test_a_record_without_a_key_that_others_have_is_named",
    ),
    "a lookup, a join or a comparison that finds nothing": (
        "evidence/test_near_misses.py::test_a_lookup_that_never_finds_its_key_is_named_with_the_twin",
        "evidence/test_near_misses.py::test_other_ways_to_look_something_up_are_seen",
        "evidence/test_near_misses.py::test_one_record_that_misses_what_the_others_meet_is_named",
    ),
    "a bad element of what `sum`, `max`, `sorted` and the like go through": (
        "evidence/test_elements_of_calls.py::test_a_bad_element_is_followed_back_to_the_function_that_gave_none",
        "evidence/test_elements_of_calls.py::test_a_bad_element_is_followed_back_to_the_line_that_made_it",
    ),
    "any warning that points at your code": (
        "cli/investigate/test_warned.py::test_a_coroutine_that_was_never_awaited_is_the_cause",
        "cli/investigate/test_warned.py::test_another_warning_is_possible_and_one_of_the_next_release_is_not_told",
    ),
    "a failure that always happens, without a visible cause": (
        "cli/investigate/test_varied.py::test_the_change_with_which_a_command_passes_is_told_first",
        "cli/investigate/test_decided.py::test_the_only_likely_change_that_gives_the_wanted_value_is_the_cause",
        "cli/investigate/test_varied.py::test_a_changed_program_leaves_nothing_behind",
    ),
    "rows, lines or items that are missing": (
        "evidence/test_shared_uses.py::test_a_use_that_finds_an_object_used_up_is_named_at_the_later_line",
        "evidence/test_shared_uses.py::test_what_is_used_in_turns_on_purpose_is_no_cause",
        "cli/investigate/test_shared_cursor.py::test_a_query_that_ends_the_one_around_it_is_the_cause",
    ),
    "something that is done twice after a retry": (
        "cli/investigate/test_repaired.py::test_what_each_attempt_makes_anew_is_the_cause_of_what_is_done_twice",
    ),
    "an update that is lost although there is a lock": (
        "cli/investigate/test_repaired.py::test_a_lock_for_each_call_is_the_cause_of_a_lost_update",
    ),
    "a length of time that is an hour off": (
        "cli/investigate/test_repaired.py::test_a_difference_over_a_change_of_the_clocks_is_its_cause",
    ),
    "a call that waits for a connection, a place or an item": (
        "cli/investigate/test_waiting_for_nothing.py::test_what_a_call_took_and_kept_is_shown_by_a_run_in_which_it_gives_it_back",
    ),
    "a setting that isn't the one that was given": (
        "evidence/test_default_values.py::test_the_line_where_a_default_meets_a_given_value_is_named_with_both",
        "evidence/test_default_values.py::test_a_given_value_that_wins_is_no_default",
        "cli/investigate/test_overriding_defaults.py::test_a_flag_that_was_not_given_and_wins_over_the_settings_is_the_cause",
    ),
    "values under the wrong names, rows with the wrong labels": (
        "evidence/test_orders.py::test_the_line_that_makes_another_order_than_what_it_is_used_with_is_named",
        "evidence/test_orders.py::test_an_order_with_which_nothing_changes_is_no_cause",
        "cli/investigate/test_other_order.py::test_labels_that_are_sorted_otherwise_than_the_model_are_the_cause",
    ),
    "a setting of the whole process, a seed or a mode that other code finds changed": (
        "cli/investigate/test_left_switched.py::test_a_precision_that_a_function_sets_for_all_is_the_cause",
        "cli/investigate/test_left_switched.py::test_a_precision_that_is_put_back_is_no_cause",
        "evidence/test_repairs.py::test_another_seed_is_the_control_of_one_that_stays",
        "ml/test_torch_toggles.py::test_a_module_in_a_list_that_eval_does_not_reach_is_the_cause",
    ),
    "a result that nothing uses": (
        "cli/investigate/test_dropped_calls.py::test_a_new_value_that_nothing_uses_is_the_cause_if_it_passes_with_it",
        "cli/investigate/test_dropped_calls.py::test_the_error_that_ended_a_thread_is_the_cause_if_it_had_what_failed",
        "cli/investigate/test_dropped_calls.py::test_results_that_are_dropped_on_purpose_are_not_the_cause",
    ),
    "keys that no line was meant to add": (
        "evidence/test_repairs.py::test_one_change_of_the_line_that_is_wrong_ends_the_failure",
        "evidence/test_needed_numbers.py::test_only_of_a_dict_that_makes_its_keys_a_look_up_is_tried_that_makes_none",
    ),
    "a product that is negative or too small": (
        "evidence/test_repairs.py::test_one_change_of_the_line_that_is_wrong_ends_the_failure",
        "evidence/test_repairs.py::test_a_product_that_wraps_is_wrong_unless_it_may_be_meant_as_in_a_hash",
    ),
    "a result that was kept for a later call": (
        "cli/investigate/test_keys_of_results.py::test_the_key_with_which_the_command_passes_is_its_cause",
        "evidence/test_kept_for_others.py::test_what_a_key_lacks_is_found_where_the_key_is_made",
    ),
    "an error that stands for others": (
        "evidence/test_inner_errors.py::test_the_errors_that_one_stands_for_are_told_with_their_places",
        "cli/investigate/test_dropped_calls.py::test_the_line_that_lets_go_of_an_open_file_is_the_cause_where_warnings_are_errors",
    ),
    "wrong import, wrong result of a module": (
        f"{HIDDEN}::test_the_line_of_a_hidden_cause_is_named",
        f"{HIDDEN}::test_the_line_of_any_hidden_cause_is_named",
    ),
    "an error in a method": (f"{HIDDEN}::test_the_line_of_any_hidden_cause_is_named",),
    "segfault, abort": (f"{HIDDEN}::test_the_line_of_a_hidden_cause_is_named",),
    "files, space, permissions, connections, or no message": (
        "cli/evidence/test_syscalls.py::test_investigate_names_the_file_that_the_message_does_not",
    ),
    "a hang": (
        f"{HIDDEN}::test_the_line_of_any_hidden_cause_is_named",
        "ml/test_hidden_rank.py::test_the_line_of_a_stuck_rank_is_named",
    ),
    "no space left": (
        f"{HIDDEN}::test_the_write_that_fills_a_disk_is_named_where_the_program_hides_it",
    ),
    "out of memory": (
        "cli/starve/test_starve.py::test_an_investigation_finds_how_much_is_enough_and_shrinks_under_the_limit",
    ),
    "too many open files": (f"{HIDDEN}::test_the_line_of_a_hidden_cause_is_named",),
    "a CUDA error": (
        "cli/investigate/test_symptoms.py::test_what_a_gpu_would_tell_is_said_where_there_is_none",
    ),
    "NaN, infinite numbers": (
        "cli/investigate/test_symptoms.py::test_the_line_that_made_the_first_nan_is_named_with_what_it_was_made_of",
        "ml/test_symptoms_torch.py::test_the_first_tensor_with_a_nan_and_the_forward_call_of_its_gradient_are_named",
    ),
    "fails only sometimes": (
        f"{HIDDEN}::test_the_line_of_any_hidden_cause_is_named",
        "workbench/test_set_order.py::test_the_seeds_with_which_it_fails_and_passes_each_time_are_told",
        "cli/investigate/test_symptoms.py::test_what_hangs_on_the_order_of_a_set_is_held_by_its_seed_to_the_end",
    ),
    "passes under a debugger": (
        "cli/investigate/test_symptoms.py::test_what_works_under_a_tracer_is_told_with_who_asks_for_one",
    ),
}
"""The rows of `whet investigate` in the guide, each with tests that run a real program."""

GUIDE = TESTS.parent / "docs" / "guides" / "symptom-to-evidence.md"


def test_each_symptom_of_the_guide_has_tests() -> None:
    table = GUIDE.read_text().partition("| symptom | what it looks at |")[2].partition("\n\n")[0]
    rows = [line.split("|")[1].strip() for line in table.splitlines()[2:]]

    assert rows == list(SYMPTOMS)


@pytest.mark.parametrize("move", [*MOVES, *SYMPTOMS])
def test_a_move_is_shown_by_tests_that_are_there(move: str) -> None:
    for named in {**MOVES, **SYMPTOMS}[move]:
        path, _, name = named.partition("::")
        tree = ast.parse((TESTS / path).read_text())
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, named

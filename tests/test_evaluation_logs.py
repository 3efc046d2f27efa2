"""Logs of evaluations of language models: what three harnesses write is read, and what two of them take is written.

The small logs here are written field by field as lm-evaluation-harness 0.4.13, Inspect 0.3.285 and HELM 0.5.16 write
theirs. The last tests use the harnesses themselves and are skipped where they are not installed.
"""

import gzip
import io
import json
import re
import struct
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curplus import Observation
from curplus.exceptions import InvalidArgumentError, SourceError
from curplus.sources import open_logs
from curplus.sources.logs import json_parts as parts_module
from curplus.sources.logs.json_parts import json_parts
from curplus.sources.logs.run import question_name, split_question
from tests import commands

pytest.importorskip("pandas")

from curplus import Study

DATE = "2026-03-01T12-00-00.123456"


# Logs as they are written


def sample(doc_id, scores, *, filter="none", doc_hash=None):
    """A line of a file of samples."""
    digest = f"{doc_id:064x}" if doc_hash is None else doc_hash
    return {
        "doc_id": doc_id,
        "doc": {"question": f"What is {doc_id} + 1?", "answer": str(doc_id + 1)},
        "target": str(doc_id + 1),
        "arguments": {"gen_args_0": {"arg_0": "What?", "arg_1": {"until": ["\n"]}}},
        "resps": [["it is 2"]],
        "filtered_resps": ["2"],
        "filter": filter,
        "metrics": list(scores),
        "doc_hash": digest,
        "prompt_hash": "p" * 64,
        "target_hash": "t" * 64,
        **scores,
    }


def write_lm_eval(folder, task, samples, *, model="org/small", version=1.0, date=DATE, packed=False):
    """A file of samples beside its results, in the folder of the model."""
    place = folder / re.sub(r'["<>:/|\\?*\[\]]+', "__", model)
    place.mkdir(parents=True, exist_ok=True)
    beside = place / f"results_{date}.json"
    versions = json.loads(beside.read_text())["versions"] if beside.exists() else {}
    results = {"results": {}, "versions": {**versions, task: version}, "config": {"model": "hf"}, "model_name": model}
    beside.write_text(json.dumps(results, indent=2))
    text = "".join(json.dumps(line) + "\n" for line in samples)
    path = place / f"samples_{task}_{date}.jsonl{'.gz' if packed else ''}"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    return path


def inspect_sample(name, scores, *, epoch=1, error=None):
    """A summary of a sample, which a whole sample of a .json log contains."""
    found = {"id": name, "epoch": epoch, "input": "What?", "target": "2", "scores": {}, "completed": True}
    found["scores"] = {scorer: {"value": value, "answer": "2", "history": []} for scorer, value in scores.items()}
    return found | ({"error": error} if error else {})


def inspect_header(model, version):
    spec = {"eval_id": f"id-{model}-{version}", "created": "2026-03-01T12:00:00+00:00", "task": "arith"}
    spec |= {"task_version": version, "dataset": {"samples": 5}, "model": model, "config": {"epochs": 2}}
    return {"version": 2, "status": "success", "eval": spec, "plan": {"steps": []}, "results": {"total_samples": 5}}


def write_eval(path, samples, *, model="mockllm/small", version=2, journal=False, zstd=False):
    """An archive with what Inspect puts into it; a journal alone if the run was not complete."""
    header = inspect_header(model, version)
    whole = {"header.json": header, "summaries.json": samples}
    half = {"_journal/start.json": {"version": 2, "eval": header["eval"], "plan": {}}}
    half |= {f"_journal/summaries/{k}.json": [one] for k, one in enumerate(samples, 1)}
    members = half if journal else {**half, **whole}
    members |= {f"samples/{one['id']}_epoch_{one['epoch']}.json": {"events": []} for one in samples}
    contents = {name: json.dumps(content).encode() for name, content in members.items()}
    if zstd:
        path.write_bytes(zstandard_archive(contents))
        return path
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return path


def zstandard_archive(contents):
    """A zip archive packed by Zstandard, which zipfile cannot write before Python 3.14."""
    arrow = pytest.importorskip("pyarrow")
    packed = {name: arrow.compress(content, codec="zstd", asbytes=True) for name, content in contents.items()}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in packed.items():
            archive.writestr(name, content)
        places = {info.filename: info.header_offset for info in archive.infolist()}
        start = archive.start_dir
    raw = bytearray(stream.getvalue())
    for name, content in contents.items():
        local = places[name]
        entry = raw.index(name.encode(), start) - 46
        for at, method, crc in ((local, 8, 14), (entry, 10, 16)):
            struct.pack_into("<H", raw, at + method, 93)
            struct.pack_into("<III", raw, at + crc, zlib.crc32(content), len(packed[name]), len(content))
        start = entry + 46
    return bytes(raw)


def write_inspect_json(path, samples, *, model="mockllm/small", version=2):
    log = inspect_header(model, version) | {"samples": samples, "reductions": []}
    path.write_text(json.dumps(log, indent=2))
    return path


def write_helm(folder, scores, *, model="org/small", trial=0, perturbation=None, question="What is {}?", state=False):
    """A folder of one run; HELM writes one entry for each metric of a question."""
    name = f"sums:difficulty=easy,model={model.replace('/', '_')}"
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    spec = {"name": name, "adapter_spec": {"method": "generation", "model": model, "model_deployment": model}}
    (place / "run_spec.json").write_text(json.dumps(spec, indent=2))
    entries = []
    for one, values in scores.items():
        for metric, value in values.items():
            stat = {"name": {"name": metric, "split": "test"}, "count": 1, "sum": value, "mean": value}
            stat = stat if value is not None else {"name": {"name": metric, "split": "test"}, "count": 0, "sum": 0}
            entry = {"instance_id": one, "train_trial_index": trial, "stats": [stat]}
            entries.append(entry | ({"perturbation": {"name": perturbation}} if perturbation else {}))
    path = place / "per_instance_stats.json"
    older = json.loads(path.read_text()) if path.exists() else []
    path.write_text(json.dumps(older + entries, indent=2))
    instances = [{"input": {"text": question.format(one)}, "split": "test", "id": one} for one in scores]
    if state:
        run = {"adapter_spec": {}, "request_states": [{"instance": x, "request": {}} for x in instances]}
        (place / "scenario_state.json").write_text(json.dumps(run, indent=2))
    else:
        (place / "instances.json").write_text(json.dumps(instances, indent=2))
    return path


def table(source):
    """All values by model and question, in the order of the logs."""
    found = {}
    for i, j, value in zip(source.i, source.j, source.values, strict=True):
        found.setdefault((str(source.row_names[i]), str(source.column_names[j])), []).append(float(value))
    return found


# lm-evaluation-harness


def test_samples_of_several_models_and_tasks_are_one_table(tmp_path):
    for model, right in (("org/small", 0), ("org/large", 1)):
        write_lm_eval(tmp_path, "mc", [sample(k, {"acc": float(right)}) for k in (0, 7)], model=model)
        write_lm_eval(tmp_path, "gen_x", [sample(0, {"exact_match": 1.0})], model=model, packed=True)
    found = table(open_logs(tmp_path, format="lm-eval"))
    assert found == {
        ("org/small", "mc/0"): [0.0],
        ("org/small", "mc/7"): [0.0],
        ("org/small", "gen_x/0"): [1.0],
        ("org/large", "mc/0"): [1.0],
        ("org/large", "mc/7"): [1.0],
        ("org/large", "gen_x/0"): [1.0],
    }


def test_files_folders_and_patterns_are_the_same_and_each_log_counts_once(tmp_path):
    path = write_lm_eval(tmp_path, "mc", [sample(0, {"acc": 1.0})])
    expected = {("org/small", "mc/0"): [1.0]}
    for given_paths in (path, str(path), tmp_path, f"{tmp_path}/*/samples_*", [path, tmp_path, path]):
        assert table(open_logs(given_paths, format="lm-eval")) == expected


def test_the_model_is_that_of_the_results_or_of_the_folder_or_the_one_that_is_given(tmp_path):
    path = write_lm_eval(tmp_path, "mc", [sample(0, {"acc": 1.0})])
    assert open_logs(path, format="lm-eval").row_names.tolist() == ["org/small"]
    (path.parent / f"results_{DATE}.json").unlink()
    assert open_logs(path, format="lm-eval").row_names.tolist() == ["org__small"]
    assert open_logs(path, format="lm-eval", model="mine").row_names.tolist() == ["mine"]


def test_a_task_with_several_scores_is_refused_until_one_is_named(tmp_path):
    write_lm_eval(tmp_path, "mc", [sample(0, {"acc": 1.0, "acc_norm": 0.0})])
    filters = [sample(0, {"exact_match": float(rule == "loose")}, filter=rule) for rule in ("strict", "loose")]
    write_lm_eval(tmp_path, "gsm", filters)
    with pytest.raises(InvalidArgumentError, match=r"task (mc|gsm) in .* has 2 scores: metric .* Say which counts"):
        open_logs(tmp_path, format="lm-eval")
    with pytest.raises(
        InvalidArgumentError, match=r"filter loose; metric exact_match with filter strict.*filter='loose'"
    ):
        open_logs(tmp_path, format="lm-eval", metric="acc_norm")
    found = table(open_logs(tmp_path, format="lm-eval", metric="acc_norm", filter="loose"))
    assert found == {("org/small", "mc/0"): [0.0], ("org/small", "gsm/0"): [1.0]}
    found = table(open_logs(tmp_path, format="lm-eval", metric=["acc", "exact_match"], filter=["strict"]))
    assert found == {("org/small", "mc/0"): [1.0], ("org/small", "gsm/0"): [0.0]}


def test_a_score_that_no_log_has_is_refused(tmp_path):
    write_lm_eval(tmp_path, "mc", [sample(0, {"acc": 1.0})])
    with pytest.raises(InvalidArgumentError, match=r"metric='acc_nrom' is in none of the logs. They have acc"):
        open_logs(tmp_path, format="lm-eval", metric="acc_nrom")


def test_one_task_has_one_score_in_all_logs(tmp_path):
    write_lm_eval(tmp_path, "mc", [sample(0, {"acc": 1.0})])
    write_lm_eval(tmp_path, "mc", [sample(0, {"acc_norm": 1.0})], model="other")
    with pytest.raises(SourceError, match=r"task mc has the score metric acc_norm .* and metric acc "):
        open_logs([tmp_path / "org__small", tmp_path / "other"], format="lm-eval")


def test_scores_that_are_no_numbers_are_no_choice(tmp_path):
    scores = {"prompt_level_acc": True, "inst_level_acc": [True, False]}
    write_lm_eval(tmp_path, "ifeval", [sample(0, scores)])
    assert table(open_logs(tmp_path, format="lm-eval")) == {("org/small", "ifeval/0"): [1.0]}
    with pytest.raises(InvalidArgumentError, match="'inst_level_acc' is in none of the logs"):
        open_logs(tmp_path, format="lm-eval", metric="inst_level_acc")


def test_samples_of_older_versions_do_not_list_their_metrics(tmp_path):
    older = sample(3, {"acc": 1.0})
    del older["metrics"]
    write_lm_eval(tmp_path, "mc", [older])
    assert table(open_logs(tmp_path, format="lm-eval")) == {("org/small", "mc/3"): [1.0]}


def test_other_questions_under_the_same_number_are_refused(tmp_path):
    one = write_lm_eval(tmp_path, "mc", [sample(0, {"acc": 1.0})])
    two = write_lm_eval(tmp_path, "mc", [sample(0, {"acc": 1.0}, doc_hash="f" * 64)], model="other")
    with pytest.raises(
        SourceError, match=r"question mc/0 has the text with the digest f{64} in .*not the same questions"
    ):
        open_logs([one, two], format="lm-eval")


def test_another_version_of_a_task_is_refused(tmp_path):
    write_lm_eval(tmp_path, "mc", [sample(0, {"acc": 1.0})])
    write_lm_eval(tmp_path, "mc", [sample(1, {"acc": 1.0})], model="other", version=2.0)
    with pytest.raises(SourceError, match=r"task mc has the version [12].0 in .*, and [12].0 in "):
        open_logs(tmp_path, format="lm-eval")


def test_a_second_run_is_a_second_value_of_the_cell(tmp_path):
    for date, value in ((DATE, 0.0), ("2026-04-01T12-00-00", 1.0)):
        write_lm_eval(tmp_path, "mc", [sample(0, {"acc": value}), sample(1, {"acc": 1.0})], date=date)
    source = open_logs(tmp_path, format="lm-eval")
    assert table(source) == {("org/small", "mc/0"): [0.0, 1.0], ("org/small", "mc/1"): [1.0, 1.0]}
    assert source.rows([0]).tolist() == [[0.5, 1.0]]
    assert Observation.from_table(source).n_entries == 4


def test_a_damaged_line_is_named(tmp_path):
    path = write_lm_eval(tmp_path, "mc", [sample(0, {"acc": 1.0})])
    path.write_text(path.read_text() + path.read_text()[:40])
    with pytest.raises(SourceError, match=rf"{path.name}.*line 2 is no sample"):
        open_logs(path, format="lm-eval")


def test_what_is_no_log_is_refused(tmp_path):
    (tmp_path / "results.json").write_text("{}")
    with pytest.raises(SourceError, match=r"its name is not samples_<task>_<date>.jsonl"):
        open_logs(tmp_path / "results.json", format="lm-eval")
    with pytest.raises(SourceError, match=r"there is no log in .*names of logs look like samples_"):
        open_logs(tmp_path, format="lm-eval")
    with pytest.raises(InvalidArgumentError, match=r"format='lmeval' is unknown. Use one of lm-eval, inspect, helm"):
        open_logs(tmp_path, format="lmeval")


# Inspect

WORDS = [("a", "C"), ("b", "I"), ("c", "P"), ("d", "N"), ("e", 0.25), ("f", True), ("g", "0.75"), ("h", "yes")]
NUMBERS = [1.0, 0.0, 0.5, 0.0, 0.25, 1.0, 0.75, 1.0]


def written_eval(folder, **how):
    return write_eval(folder / "one.eval", [inspect_sample(x, {"match": value}) for x, value in WORDS], **how)


@pytest.mark.parametrize("how", [{}, {"journal": True}, {"zstd": True}])
def test_archives_of_inspect_are_read_by_their_summaries(tmp_path, how):
    source = open_logs(written_eval(tmp_path, **how), format="inspect")
    assert source.row_names.tolist() == ["mockllm/small"]
    assert source.column_names.tolist() == [f"arith/{name}" for name, _ in WORDS]
    assert source.values.tolist() == NUMBERS


def test_a_json_log_of_inspect_is_the_same_packed_or_not(tmp_path):
    samples = [inspect_sample(name, {"match": value}) | {"messages": [{"x": [1, {}]}]} for name, value in WORDS]
    path = write_inspect_json(tmp_path / "now_arith_id.json", samples)
    (tmp_path / "packed").mkdir()
    packed = tmp_path / "packed" / "now_arith_id.json.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    for each in (path, packed, packed.parent):
        assert open_logs(each, format="inspect").values.tolist() == NUMBERS


def test_an_error_in_a_sample_is_a_failed_measurement_and_not_a_zero(tmp_path):
    samples = [inspect_sample("a", {"match": "C"}), inspect_sample("b", {}, error="ValueError('broken')")]
    samples.append(inspect_sample("c", {"match": "I"}, error="it was scored all the same"))
    samples.append(inspect_sample("d", {"match": float("nan")}))
    source = open_logs(write_eval(tmp_path / "one.eval", samples), format="inspect")
    np.testing.assert_array_equal(source.values, [1.0, np.nan, np.nan, np.nan])
    assert Observation.from_table(source).n_entries == 1


def test_epochs_are_several_values_of_a_cell(tmp_path):
    samples = [inspect_sample(7, {"match": value}, epoch=k) for k, value in enumerate("CIC", 1)]
    source = open_logs(write_eval(tmp_path / "one.eval", samples), format="inspect")
    assert table(source) == {("mockllm/small", "arith/7"): [1.0, 0.0, 1.0]}


def test_scorers_and_their_parts_are_metrics(tmp_path):
    scores = {"match": "C", "judge": {"style": 0.25, "tone": "P"}, "list": [1, 2]}
    path = write_eval(tmp_path / "one.eval", [inspect_sample("a", scores)])
    with pytest.raises(
        InvalidArgumentError, match=r"3 scores: metric judge/style .*; metric judge/tone .*; metric match"
    ):
        open_logs(path, format="inspect")
    assert open_logs(path, format="inspect", metric="judge/tone").values.tolist() == [0.5]


def test_a_word_that_is_no_score_is_refused(tmp_path):
    samples = [inspect_sample("a", {"grade": "C"}), inspect_sample("b", {"grade": "B+"})]
    path = write_eval(tmp_path / "one.eval", samples)
    with pytest.raises(SourceError, match="metric grade with filter none of arith/b is no number"):
        open_logs(path, format="inspect")


def test_another_file_is_no_log_of_inspect(tmp_path):
    (tmp_path / "a_b.json").write_text('{"version": 1}')
    with pytest.raises(SourceError, match="it has no part called eval"):
        open_logs(tmp_path, format="inspect")


# HELM


def test_a_run_of_helm_is_read(tmp_path):
    write_helm(tmp_path, {"id3": {"exact_match": 1.0, "num_tokens": 5.0}, "id8": {"exact_match": 0.0, "num_tokens": 2}})
    write_helm(tmp_path, {"id3": {"exact_match": None, "num_tokens": 5.0}}, model="org/large")
    found = table(open_logs(tmp_path, format="helm", metric="exact_match"))
    assert found.pop(("org/large", "sums:difficulty=easy/id3")) == [pytest.approx(np.nan, nan_ok=True)]
    task = "sums:difficulty=easy"
    assert found == {("org/small", f"{task}/id3"): [1.0], ("org/small", f"{task}/id8"): [0.0]}
    with pytest.raises(InvalidArgumentError, match="metric num_tokens with filter none"):
        open_logs(tmp_path, format="helm")


def test_trials_are_repeats_and_perturbations_are_filters(tmp_path):
    for trial, value in enumerate((1.0, 0.0)):
        write_helm(tmp_path, {"id3": {"exact_match": value}}, trial=trial)
    write_helm(tmp_path, {"id3": {"exact_match": 0.0}}, perturbation="typos")
    with pytest.raises(InvalidArgumentError, match="filter='none'"):
        open_logs(tmp_path, format="helm")
    found = table(open_logs(tmp_path, format="helm", filter="none"))
    assert list(found.values()) == [[1.0, 0.0]]


@pytest.mark.parametrize("state", [False, True])
def test_other_instances_under_the_same_name_are_refused(tmp_path, state):
    write_helm(tmp_path, {"id3": {"exact_match": 1.0}}, state=state)
    write_helm(tmp_path, {"id3": {"exact_match": 1.0}}, model="org/mini", state=state)
    assert len(table(open_logs(tmp_path, format="helm"))) == 2
    write_helm(tmp_path, {"id3": {"exact_match": 1.0}}, model="org/large", question="How large is {}?", state=state)
    with pytest.raises(SourceError, match="question sums:difficulty=easy/id3 has the text"):
        open_logs(tmp_path, format="helm")


def test_a_run_without_its_description_is_refused(tmp_path):
    path = write_helm(tmp_path, {"id3": {"exact_match": 1.0}})
    (path.parent / "run_spec.json").unlink()
    with pytest.raises(SourceError, match=r"there is no run_spec.json beside it"):
        open_logs(path, format="helm")


# Large documents

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from("abc"), JSON), st.integers(1, 9), st.sampled_from([None, 2]))
def test_a_document_in_parts_is_the_document(document, chunk, indent):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts_module, "CHUNK", chunk)
        found = list(json_parts(io.StringIO(json.dumps(document, indent=indent)), ("a",)))
        expected = []
        for name, value in document.items():
            expected += [(name, x) for x in value] if name == "a" and isinstance(value, list) else [(name, value)]
        assert found == expected
        items = list(document.values())
        assert list(json_parts(io.StringIO(json.dumps(items, indent=indent)))) == [("", x) for x in items]


def test_a_document_that_ends_early_is_damaged():
    for text in ("", "[1, 2", '{"a": [1, {"b"', "17", '{"a" 1}'):
        with pytest.raises(ValueError, match=r"expected|delimiter|Expecting|Unterminated"):
            list(json_parts(io.StringIO(text), ("a",)))


@given(st.text(min_size=1))
def test_a_name_has_its_task_and_its_question(question):
    assert split_question(question_name("group/task", question)) == ("group/task", question)


# Studies


@pytest.fixture
def history(tmp_path):
    """Logs of two models in two tasks."""
    folder = tmp_path / "history"
    rng = np.random.default_rng(0)
    for model in ("org/a", "org/b"):
        for task in ("mc", "gen"):
            scores = [{"acc": float(x)} for x in rng.integers(0, 2, 4)]
            write_lm_eval(folder, task, [sample(k, x) for k, x in enumerate(scores)], model=model)
    return folder


@pytest.fixture
def study(tmp_path, history):
    return Study.from_logs(tmp_path / "s.study", history, format="lm-eval", new_rows=["org/new"], budget=8)


def test_a_study_of_logs_knows_their_answers_for_nothing(study, history):
    assert study.settings.rows.names == ("org/a", "org/b", "org/new")
    assert study.settings.shape == (3, 8)
    status = study.status()
    assert (status.n_values, status.spent) == (16, 0)
    seen = study.observation()
    source = open_logs(history, format="lm-eval")
    names = {str(name): k for k, name in enumerate(seen.column_names)}
    known = dict(zip(zip(seen.i.tolist(), seen.j.tolist(), strict=True), seen.values.tolist(), strict=True))
    for i, j, value in zip(source.i, source.j, source.values, strict=True):
        assert known[int(i), names[str(source.column_names[j])]] == value


def test_a_log_that_is_told_again_is_not_kept_twice(study, history):
    receipt = study.tell(history, format="lm-eval")
    assert not receipt.is_new
    assert (receipt.n_again, study.status().n_values) == (16, 16)
    write_lm_eval(history, "mc", [sample(0, {"acc": 1.0})], model="org/new")
    receipt = study.tell([history], format="lm-eval", metric="acc")
    assert (receipt.n_values, receipt.n_again) == (1, 16)


def test_a_model_that_the_study_has_no_row_for_is_named_with_what_helps(study, history):
    write_lm_eval(history, "mc", [sample(0, {"acc": 1.0})], model="org/late")
    with pytest.raises(
        InvalidArgumentError, match=r"no row for: 'org/late' .*Study.add_rows, or 'curplus study add STUDY"
    ):
        study.tell(history, format="lm-eval")
    study.add_rows(["org/late"])
    assert study.tell(history, format="lm-eval").n_values == 1
    write_lm_eval(history, "other", [sample(0, {"acc": 1.0})], model="org/late")
    with pytest.raises(InvalidArgumentError, match=r"1 question that the study has no column for.*Study.add_columns"):
        study.tell(history, format="lm-eval")


def test_epochs_are_separate_readings_of_a_study_and_errors_failed_ones(tmp_path):
    samples = [inspect_sample("a", {"match": value}, epoch=k) for k, value in enumerate("CI", 1)]
    samples.append(inspect_sample("b", {}, error="ValueError('broken')"))
    path = write_eval(tmp_path / "one.eval", samples)
    study = Study.from_logs(tmp_path / "s.study", path, format="inspect")
    records = study.records()
    assert records["column"].tolist() == ["arith/a", "arith/a", "arith/b"]
    np.testing.assert_array_equal(records["value"], [1.0, 0.0, np.nan])
    assert records["note"].tolist() == [f'id-mockllm/small-2#{k} ["match", "none", "2", ""]' for k in (1, 2, 1)]
    assert study.status().n_failed == 1
    assert not study.tell(path, format="inspect").is_new  # a failure is known again as well


@pytest.mark.parametrize(
    ("how", "scores", "term"),
    [
        ({"version": 2.0}, {"acc": 1.0}, "version 2.0 in these logs, and 1.0 in"),
        ({}, {"other": 1.0}, "metric other in these logs, and acc in"),
        ({"doc_hash": "f" * 64}, {"acc": 1.0}, "text with the digest f{16} in these logs, and 0{16} in"),
    ],
)
def test_other_questions_than_those_told_before_are_refused(study, tmp_path, how, scores, term):
    line = sample(0, scores, doc_hash=how.pop("doc_hash", None))
    path = write_lm_eval(tmp_path / "new", "mc", [line], model="org/new", **how)
    with pytest.raises(InvalidArgumentError, match=f"question mc/0 has the {term} those told before. Nothing was kept"):
        study.tell(path, format="lm-eval")
    write_lm_eval(tmp_path / "new", "mc", [sample(0, {"acc": 1.0})], model="org/new")
    assert study.tell(path, format="lm-eval").n_values == 1


def test_notes_of_people_are_no_terms(study, tmp_path, history):
    pd = pytest.importorskip("pandas")
    notes = ['see ["a"', 'see ["a", "b"]', 'see ["a", 1, 2, 3']
    study.tell(pd.DataFrame({"row": "org/new", "column": [f"mc/{k}" for k in range(3)], "value": 1.0, "note": notes}))
    write_lm_eval(tmp_path / "new", "mc", [sample(k, {"acc": 1.0}) for k in range(3)], model="org/new")
    assert study.tell(tmp_path / "new", format="lm-eval").n_values == 3


def test_nothing_is_made_of_logs_that_cannot_be_read(tmp_path, history):
    write_lm_eval(history, "mc", [sample(0, {"acc": 1.0}, doc_hash="f" * 64)], model="org/late")
    with pytest.raises(SourceError, match="not the same questions"):
        Study.from_logs(tmp_path / "s.study", history, format="lm-eval")
    assert not (tmp_path / "s.study").exists()


def test_a_list_comes_back_from_the_harness_as_evidence(study, tmp_path):
    todo = study.ask(6, whole=False)
    paths = todo.to_harness(tmp_path / "lists", "lm-eval")
    for path in paths:
        (model,) = [name for name in todo.cells["row"].unique() if name.replace("/", "__") == path.stem]
        for task, documents in json.loads(path.read_text()).items():
            assert documents == sorted(set(documents))
            write_lm_eval(tmp_path / "new", task, [sample(k, {"acc": 1.0}) for k in documents], model=model)
    receipt = study.tell(tmp_path / "new", format="lm-eval")
    assert (receipt.n_values, receipt.n_unasked) == (6, 0)
    status = study.status()
    assert (status.n_pending, status.spent) == (0, 6)
    assert np.count_nonzero(study.observation().evidence) == 6


def test_inspect_takes_a_file_for_each_model_and_task(study, tmp_path):
    todo = study.ask(8, required={"rows": ["org/new"]})
    paths = todo.to_harness(tmp_path / "lists", "inspect")
    assert sorted(path.name for path in paths) == ["org__new.gen.json", "org__new.mc.json"]
    for path in paths:
        assert sorted(json.loads(path.read_text())["eval_config"]["sample_id"]) == ["0", "1", "2", "3"]


def test_letters_of_patterns_stand_for_themselves(tmp_path):
    path = write_eval(tmp_path / "one.eval", [inspect_sample("a[1]*/x, y?", {"match": "C"})])
    study = Study.from_logs(tmp_path / "s.study", path, format="inspect", new_rows=["new"])
    (written,) = study.ask(1, required={"rows": ["new"]}).to_harness(tmp_path / "lists", "inspect")
    assert json.loads(written.read_text())["eval_config"]["sample_id"] == ["a[[]1][*]/x, y[?]"]


def test_lists_that_a_harness_cannot_take_are_refused(study, tmp_path):
    todo = study.ask(2)
    with pytest.raises(InvalidArgumentError, match="helm takes no list of questions"):
        todo.to_harness(tmp_path / "lists", "helm")
    todo.to_harness(tmp_path / "lists", "lm-eval")
    with pytest.raises(InvalidArgumentError, match="is not empty, and older lists could be taken for new ones"):
        todo.to_harness(tmp_path / "lists", "lm-eval")
    named = Study.create(tmp_path / "t.study", rows=["a"], columns=["x", "mc/y"])
    with pytest.raises(InvalidArgumentError, match="column 'x' is no question of a task"):
        named.ask(2).to_harness(tmp_path / "other", "lm-eval")
    with pytest.raises(InvalidArgumentError, match="'mc/y' does not end in the number of a document"):
        Study.create(tmp_path / "u.study", rows=["a"], columns=["mc/y"]).ask(1).to_harness(tmp_path / "x", "lm-eval")


# The command line


def command(*arguments, code=0):
    done = commands.run(*arguments, width=200)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


def test_a_study_from_logs_to_logs_on_the_command_line(tmp_path, history):
    pytest.importorskip("typer")
    path, lists = tmp_path / "s.study", tmp_path / "lists"
    how = ("--format", "lm-eval", "--metric", "acc")
    command("study", "create", path, "--from-logs", history, *how, "--row", "org/new", "--budget", "8")
    command("study", "ask", path, "--budget", "4", "--scattered", "--format", "lm-eval", "--out", lists)
    for written in lists.iterdir():
        for task, documents in json.loads(written.read_text()).items():
            answers = [sample(k, {"acc": 1.0}) for k in documents]
            model = written.stem.replace("__", "/")
            write_lm_eval(tmp_path / "new", task, answers, model=model, date="2026-05-01T00-00-00")
    told = command("study", "tell", path, tmp_path / "new", history, *how, "--json").stdout
    (receipt,) = json.loads(told)["tables"]
    assert (receipt["n_values"], receipt["n_again"]) == (4, 16)
    assert json.loads(command("study", "status", path, "--json").stdout)["n_pending"] == 0


def test_logs_are_a_long_table_on_the_command_line(tmp_path, history):
    pytest.importorskip("typer")
    found = json.loads(command("info", history, "--format", "lm-eval", "--json").stdout)
    assert (found["shape"], found["rows"]) == ([2, 8], ["org/a", "org/b"])
    found = json.loads(command("approximate", history, "--format", "lm-eval", "--json").stdout)
    assert found["shape"] == [2, 8]
    assert "Give --format as well" in command("info", history, "--metric", "acc", code=2).stderr
    wrong = command("info", history, "--format", "lm-eval", "--sep", "comma", code=2).stderr
    assert "is for tables, --format for logs" in " ".join(wrong.split())
    path = tmp_path / "t.study"
    Study.create(path, rows=2, columns=2)
    wrong = command("study", "tell", path, history, "--format", "lm-eval", "--decimal", "comma", code=2).stderr
    assert "--decimal comma is for tables" in " ".join(wrong.split())
    wrong = command("study", "create", tmp_path / "s.study", "--from-logs", history, code=2).stderr
    assert "--from-logs needs --format" in wrong


# The harnesses themselves


def test_lm_eval_takes_the_list_and_its_own_samples_are_read(study, tmp_path, monkeypatch):
    """The harness answers the documents of the list, with a model that needs no network and no weights."""
    pytest.importorskip("lm_eval", reason="lm_eval is not installed")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    documents = [{"question": f"{k} + 1?", "choices": ["1", "2"], "gold": k % 2} for k in range(4)]
    (tmp_path / "documents.jsonl").write_text("".join(json.dumps(each) + "\n" for each in documents))
    tasks = tmp_path / "tasks"
    tasks.mkdir()
    for task in ("mc", "gen"):
        config = {
            "task": task,
            "dataset_path": "json",
            "test_split": "test",
            "output_type": "multiple_choice",
            "dataset_kwargs": {"data_files": {"test": str(tmp_path / "documents.jsonl")}},
            "doc_to_text": "{{question}}",
            "doc_to_choice": "{{choices}}",
            "doc_to_target": "gold",
            "metric_list": [{"metric": "acc"}],
            "metadata": {"version": 1.0},
        }
        (tasks / f"{task}.yaml").write_text(json.dumps(config))  # JSON is YAML
    todo = study.ask(5, whole=False)
    for path in todo.to_harness(tmp_path / "lists", "lm-eval"):
        arguments = ["run", "--model", "dummy", "--model_args", f"pretrained={path.stem}", "--include_path", tasks]
        arguments += ["--tasks", ",".join(json.loads(path.read_text())), "--samples", path]
        arguments += ["--log_samples", "--output_path", tmp_path / "out"]
        done = subprocess.run([sys.executable, "-m", "lm_eval", *map(str, arguments)], capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
    source = open_logs(tmp_path / "out", format="lm-eval")
    asked = {
        (name.replace("/", "__"), question)
        for name, question in zip(todo.cells["row"], todo.cells["column"], strict=True)
    }
    assert set(table(source)) == asked
    assert set(source.values) <= {0.0, 1.0}


def test_inspect_takes_the_list_and_its_own_log_is_read(tmp_path, monkeypatch):
    inspect_ai = pytest.importorskip("inspect_ai", reason="inspect_ai is not installed")
    monkeypatch.chdir(tmp_path)
    Path("arith.py").write_text(
        "from inspect_ai import Task, task\n"
        "from inspect_ai.dataset import MemoryDataset, Sample\n"
        "from inspect_ai.model import ModelOutput\n"
        "from inspect_ai.scorer import match\n"
        "from inspect_ai.solver import solver\n"
        "@solver\n"
        "def answers():\n"
        "    async def solve(state, generate):\n"
        "        if state.sample_id == 'q3':\n"
        "            raise ValueError('broken')\n"
        "        state.output = ModelOutput.from_content('mockllm/model', '2')\n"
        "        return state\n"
        "    return solve\n"
        "@task\n"
        "def arith():\n"
        "    samples = [Sample(id=f'q{k}', input='1+1?', target=str(2 + k % 2)) for k in range(5)]\n"
        "    return Task(dataset=MemoryDataset(samples), solver=answers(), scorer=match(), version=2)\n"
    )

    def evaluate(*arguments):
        how = ["--model", "mockllm/model", "--no-fail-on-error", "--display", "plain", *map(str, arguments)]
        done = subprocess.run(
            [sys.executable, "-m", "inspect_ai", "eval", "arith.py", *how], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr + done.stdout

    evaluate("--log-dir", "logs")
    found = table(open_logs("logs", format="inspect"))
    expected = {("mockllm/model", f"arith/q{k}"): [float(k % 2 == 0)] for k in (0, 1, 2, 4)}
    assert {key: value for key, value in found.items() if key[1] != "arith/q3"} == expected
    assert np.isnan(found["mockllm/model", "arith/q3"]).all()
    study = Study.from_logs("s.study", "logs", format="inspect", new_rows=["mockllm/new"])
    todo = study.ask(3, whole=False)
    asked = sorted(todo.cells["column"][todo.cells["row"] == "mockllm/new"])
    (path,) = [x for x in todo.to_harness("lists", "inspect") if x.name.startswith("mockllm__new")]
    evaluate("--run-config", path, "--log-dir", "again", "--log-format", "json")
    again = open_logs("again", format="inspect", model="mockllm/new")
    assert sorted(again.column_names) == asked
    assert study.tell("again", format="inspect", model="mockllm/new").n_unasked == 0
    assert inspect_ai.log.read_eval_log(str(next(Path("again").iterdir()))).status == "success"

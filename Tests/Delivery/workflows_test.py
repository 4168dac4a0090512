"""Breaks the workflows of this repository in one way after another, and sees that each is noticed."""

import pathlib
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/lib/delivery"))

import workflows
from results import Results

# (file, what is replaced, what by, part of what is said)
BREAKS = [
    ("check.yml", "jobs:\n", "jobs:\n  lint: {}\n", "no YAML"),
    ("check.yml", "name: check\n", "name: [check\n", "no YAML"),
    ("check.yml", "name: check\n", "title: check\n", "unknown key title"),
    ("check.yml", "permissions:\n  contents: read", "permissions: write-all", "may more than read"),
    ("check.yml", "permissions:\n  contents: read\n", "", "has no permissions"),
    ("check.yml", "pull_request:", "pull_request_target:", "rights of its own"),
    ("check.yml", "concurrency:\n  group: check-${{ github.ref }}\n  cancel-in-progress: true\n", "", "concurrency"),
    ("check.yml", "    timeout-minutes: 20\n", "", "no timeout"),
    ("check.yml", "    runs-on: ubuntu-24.04\n", "", "where it runs"),
    ("check.yml", "runs-on:", "run-on:", "unknown key run-on"),
    ("check.yml", "scripts/lint", "scripts/linting", "does not exist"),
    ("check.yml", "scripts/lint", "scripts/plain", "cannot be executed"),
    ("check.yml", "scripts/lint\n", "scripts/lint $(ls)\n", "shellcheck refuses"),
    ("check.yml", "scripts/lint\n", "scripts/lint ${{ github.head_ref }}\n", "expression in its shell"),
    ("check.yml", "@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2", "@v4", "not pinned"),
    ("check.yml", " # v4.2.2", "", "which version"),
    ("check.yml", "persist-credentials: false", "persist-credentials: true", "leaves the token"),
    ("check.yml", "github.ref }}", "github.ref }", "without an end"),
    ("check.yml", "hashFiles(", "hashFile(", "no function"),
    ("check.yml", "hashFiles('Package.swift',", "hashFiles(('Package.swift',", "brackets"),
    ("check.yml", "github.sha", "gitub.sha", "nothing that is known"),
    ("check.yml", "BASE:", "BASIS:", "reads BASE"),
    ("check.yml", "        run: |", "        uses: a/b@11bd71901bbe5b1630ceea73d27597364c9af683\n        run: |", "one of uses and run"),
    ("staging.yml", "needs: [changes, build]", "needs: [changes, built]", "built, which does not exist"),
    ("staging.yml", "  build:\n    needs: [changes]", "  build:\n    needs: [image]", "wait for each other"),
    ("staging.yml", "needs: [changes, build]", "needs: [build]", "does not need changes"),
    ("staging.yml", "outputs.services != '[]'", "outputs.service != '[]'", "no output service"),
    ("staging.yml", "steps.changes.outputs.base", "steps.change.outputs.base", "no step change"),
    ("staging.yml", "${{ fromJSON(needs.changes.outputs.services) }}", "[{service: auth}]", "scripts/changed-services"),
    ("staging.yml", "scripts/changed-services", "scripts/lint", "scripts/changed-services"),
    ("staging.yml", "fromJSON(needs.changes.outputs.services)", "fromJSON(needs.changes.outputs.matrix)", "is no output"),
    ("staging.yml", "matrix.service", "matrix.name }} ${{ matrices.name", "nothing that is known"),
    ("staging.yml", "    strategy:\n      fail-fast: false\n      matrix:\n        include: ${{ fromJSON(needs.changes.outputs."
                    "services) }}\n", "", "no matrix"),
    ("staging.yml", "      id-token: write\n    runs-on", "    runs-on", "without the right"),
    ("staging.yml", "      contents: read\n      id-token", "      packages: write\n      id-token", "may write packages"),
    ("staging.yml", "      contents: read\n      id-token", "      contents: write\n      id-token", "and does not"),
    ("staging.yml", "      contents: read\n      id-token", "      content: read\n      id-token", "does not exist"),
    ("staging.yml", "role-to-assume: ${{ vars.BUILD_ROLE }}", "aws-access-key-id: ${{ secrets.KEY }}", "a key that stays"),
    ("staging.yml", "rollout.yml", "rollouts.yml", "no workflow of this repository"),
    ("staging.yml", "      environment: staging", "      env: staging", "does not give environment"),
    ("staging.yml", "      contents: write\n", "", "does not pass on"),
    ("rollout.yml", "inputs.services", "inputs.service", "no input service"),
    ("rollout.yml", "        env:\n          TOKEN: ${{ github.token }}\n", "        env:\n", "reads TOKEN"),
]


def main():
    results = Results()
    found = workflows.problems(ROOT)
    results.check("the workflows pass as they are", len(found) == 4 and not any(found.values()), found)
    for file, old, new, wanted in BREAKS:
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            shutil.copytree(ROOT / ".github", root / ".github")
            shutil.copytree(ROOT / "scripts", root / "scripts")
            (root / "scripts/plain").write_text("")
            path = root / ".github/workflows" / file
            text = path.read_text()
            results.check(f"{file} holds {old}", old in text)
            path.write_text(text.replace(old, new))
            said = [problem for problem in workflows.problems(root)[file] if wanted in problem]
            results.check(f"{file}: {old.strip()[:50]} -> {new.strip()[:50]}", bool(said), workflows.problems(root)[file])
    sys.exit(results.end())


main()

package parse_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchrig/bench/scenarios"
	"github.com/benchrig/bench/scenarios/parse"
)

const onSlurm = "schema: 1\nserver: {launcher: simulator, model: m}\n" +
	"load: {dataset: {kind: random}, input-len: 8, output-len: 2, num-prompts: 1}\n"

func TestSlurm(t *testing.T) {
	for _, test := range []struct {
		name, text string
		set        []string
		want       scenarios.Slurm
	}{
		{name: "not given"},
		{name: "defaults where it is needed", set: []string{"on=slurm"}, want: scenarios.Slurm{
			Grace: 2 * time.Minute,
			Nodes: scenarios.SpreadNodes,
		}},
		{
			name: "all of it",
			text: "slurm: {partition: p, account: a, qos: q, gres: \"gpu:8\", constraint: \"a&b\", time: 90m, " +
				"grace: 0, nodes: same, at-once: 3, " +
				"options: [--exclusive, --mem=64G], setup: [module load rocm]}\n",
			want: scenarios.Slurm{
				Sbatch: map[string]string{
					"partition": "p", "account": "a", "qos": "q", "gres": "gpu:8",
					"constraint": "a&b",
				}, Time: 90 * time.Minute, Nodes: scenarios.SameNode, AtOnce: 3,
				Options: []string{"--exclusive", "--mem=64G"}, Setup: []string{"module load rocm"},
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			sc, err := parse.Source("s.yaml", []byte(onSlurm+test.text), parse.Options{Set: test.set})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, sc.Slurm); diff != "" {
				t.Errorf("slurm: differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSlurmErrors(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{
			"slurm: {options: [--array=1-3]}\n",
			`s.yaml:4:19: option "--array=1-3" is not allowed here: bench makes the arrays`,
		},
		{"slurm: {options: [-x]}\n", `option is "-x", expected one word such as --exclusive or --mem=64G`},
		{"slurm: {options: [\"--mem=1\\n#SBATCH --uid=0\"]}\n", "expected one word"},
		{"slurm: {partition: \"a\\nb\"}\n", "more than one line"},
		{"slurm: {setup: [\"a\\nb\"]}\n", "expected one line of shell each"},
		{"slurm: {nodes: any}\n", "nodes"},
		{"on: slrm\n", `"slurm"`},
		{"slurm: {particion: x}\n", `did you mean "partition"`},
	} {
		_, err := parse.Source("s.yaml", []byte(onSlurm+test.text), parse.Options{})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Parse(%q) = %v, want %q in it", test.text, err, test.want)
		}
	}
}

// Package bench holds no code: its tests check the layout of the module.
package bench

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// rule says what a package may import of ours and what it must not import at
// all. Every package of the module has one; tests are exempt.
type rule struct {
	ours  []string
	never []string
}

var (
	pure     = []string{"os", "net/http", "os/exec", "time", "github.com/rs/zerolog"}
	noSystem = []string{"net/http", "os/exec", "github.com/rs/zerolog", "github.com/spf13/cobra"}
	noCLI    = []string{"github.com/rs/zerolog", "github.com/spf13/cobra"}
)

var rules = map[string]rule{
	"results": {ours: []string{"internal/text", "load/spec"}, never: append([]string{"os", "gopkg.in/yaml.v3"},
		noSystem...)},
	"results/jsonschema":    {never: append(slices.Clone(pure), noSystem...)},
	"results/store/moments": {ours: []string{"internal/inside", "results", "results/store"}, never: noSystem},
	"results/store": {ours: []string{
		"internal/text", "internal/inside", "internal/newfile", "internal/proc", "results",
		"internal/secrets", "internal/sleep",
	}, never: append([]string{"gopkg.in/yaml.v3"}, noSystem...)},
	"scenarios": {
		ours:  []string{"load/spec", "scenarios/schema", "launchers/engines", "launchers/recipe"},
		never: noSystem,
	},
	"scenarios/schema": {ours: []string{"internal/cpus"}, never: append([]string{"os"}, noSystem...)},
	"scenarios/expand": {
		ours:  []string{"scenarios", "scenarios/schema", "internal/secrets"},
		never: append([]string{"os"}, noSystem...),
	},
	"scenarios/simulate": {
		ours: []string{"scenarios", "launchers/engines", "load/dialect"},
		never: append([]string{"os"},
			noSystem...),
	},
	"scenarios/parse/keys": {
		ours: []string{
			"gpu", "internal/secrets", "launchers/engines", "load/dialect", "metrics/catalog", "results",
			"results/codes", "launchers/container", "load/spec", "load/toolcall", "scenarios", "scenarios/schema",
		},
		never: noSystem,
	},
	"scenarios/parse/check": {
		ours: []string{
			"dataset/audio", "internal/secrets", "launchers/container", "launchers/engines", "load/dialect",
			"load/spec", "metrics/catalog", "scenarios", "scenarios/parse/keys", "scenarios/schema",
		},
		never: append([]string{"os"}, noSystem...),
	},
	"scenarios/parse": {ours: []string{
		"internal/secrets", "internal/userfile", "launchers/container", "load/spec", "metrics/catalog", "scenarios",
		"scenarios/expand", "scenarios/parse/check", "scenarios/parse/keys", "scenarios/schema", "scenarios/simulate",
	}, never: noSystem},
	"profiles": {never: append([]string{"os"}, noSystem...)},
	"dataset": {
		ours: []string{
			"internal/text", "internal/userfile", "dataset/audio", "dataset/prng", "dataset/sessions", "dataset/table",
			"dataset/tokenizer",
		},
		never: noSystem,
	},
	"dataset/audio":   {ours: []string{"dataset/prng"}, never: pure},
	"dataset/exact":   {never: pure},
	"dataset/mixture": {ours: []string{"dataset", "dataset/prng", "load/spec"}, never: noSystem},
	"dataset/prng":    {never: pure},
	"dataset/tokenizer": {ours: []string{
		"dataset/tokenizer/gguf", "dataset/tokenizer/pattern", "dataset/tokenizer/unicodeform", "internal/userfile",
	}, never: noSystem},
	"dataset/tokenizer/gguf":        {never: pure},
	"dataset/tokenizer/pattern":     {never: append([]string{"os"}, noSystem...)},
	"dataset/tokenizer/unicodeform": {never: pure},
	"results/bundle": {ours: []string{
		"internal/inside", "internal/newfile", "internal/text",
		"internal/userfile",
		"launchers/engines", "results", "results/store",
		"internal/secrets",
	}, never: append([]string{"gopkg.in/yaml.v3"}, noSystem...)},
	"load/record": {ours: []string{
		"internal/text", "load/dialect", "load/dialect/event", "load/wire", "load/wire/sse",
	}, never: noCLI},
	"load/calibrate": {ours: []string{
		"internal/userfile",
		"internal/importer", "internal/proc", "metrics", "load", "load/dialect",
		"load/spec", "results",
	}, never: noCLI},
	"internal/tinygguf":   {never: pure},
	"internal/llamabench": {ours: []string{"internal/nanjson", "metrics", "results"}, never: pure},
	"internal/nanjson":    {never: pure},
	"internal/importer/save": {ours: []string{
		"internal/userfile", "internal/text", "internal/importer", "results", "results/store",
	}, never: noCLI},
	"internal/importer/plain":    {never: pure},
	"internal/importer/lenient":  {ours: []string{"internal/nanjson"}, never: pure},
	"internal/importer/labels":   {ours: []string{"metrics/catalog"}, never: pure},
	"internal/importer/commands": {ours: []string{"launchers/engines"}, never: pure},
	"internal/importer/drafts":   {ours: []string{"results"}, never: pure},
	"internal/importer/stated": {ours: []string{
		"internal/importer/commands", "internal/importer/labels", "internal/importer/plain", "internal/text",
		"metrics", "metrics/catalog", "results",
	}, never: pure},
	"internal/importer/clients": {ours: []string{
		"internal/importer/labels", "internal/importer/lenient", "internal/importer/plain",
		"internal/importer/stated", "internal/text", "metrics", "results",
	}, never: pure},
	"internal/importer": {ours: []string{
		"internal/importer/clients", "internal/importer/commands", "internal/importer/drafts",
		"internal/importer/labels", "internal/importer/lenient", "internal/importer/plain",
		"internal/importer/stated", "internal/llamabench", "internal/nanjson", "internal/programs", "internal/text",
		"results",
	}, never: pure},
	"internal/programs": {ours: []string{"internal/llamabench", "internal/nanjson", "metrics", "results"}, never: pure},
	"dataset/pickle":    {never: pure},
	"dataset/sessions":  {ours: []string{"dataset/table"}, never: noSystem},
	"dataset/table":     {ours: []string{"internal/userfile", "dataset/pickle"}, never: noSystem},
	"metrics":           {ours: []string{"results/vllm", "internal/text", "results"}, never: pure},
	"metrics/catalog":   {ours: []string{"metrics", "metrics/telemetry", "results"}, never: pure},
	"metrics/bisect": {
		ours:  []string{"metrics/catalog", "metrics/compare", "results"},
		never: pure,
	},
	"metrics/blame": {
		ours:  []string{"metrics/catalog", "metrics/compare", "results"},
		never: pure,
	},
	"metrics/compare": {ours: []string{"metrics", "metrics/catalog", "results"}, never: pure},
	"metrics/curves":  {ours: []string{"metrics", "metrics/compare", "results"}, never: pure},
	"metrics/early":   {ours: []string{"load/spec", "metrics", "results"}, never: pure},
	"metrics/search": {
		ours:  []string{"internal/text", "metrics", "metrics/catalog", "metrics/compare", "results"},
		never: pure,
	},
	"metrics/parts":     {ours: []string{"load/spec", "metrics", "results"}, never: pure},
	"metrics/telemetry": {ours: []string{"internal/text", "metrics", "results"}, never: pure},
	"metrics/tune": {
		ours:  []string{"metrics", "metrics/catalog", "metrics/compare", "metrics/search", "results"},
		never: pure,
	},
	"internal/numtest": {},
	"internal/secrets": {never: pure},
	"metrics/versus": {ours: []string{
		"launchers/engines", "internal/text", "metrics",
		"metrics/catalog", "metrics/compare", "metrics/search", "results",
	}, never: pure},
	"metrics/history": {
		ours:  []string{"metrics", "metrics/catalog", "metrics/compare", "metrics/versus", "results"},
		never: append([]string{"os", "net/http", "os/exec"}, noCLI...),
	},
	"report/history": {
		ours: []string{
			"internal/text", "metrics/compare", "metrics/history", "metrics/versus", "report/chart", "report/export",
			"report/markup",
			"report/table",
		},
		never: append([]string{"os"}, noSystem...),
	},
	"report": {ours: []string{
		"internal/text", "metrics/versus", "report/table", "results",
		"metrics", "metrics/bisect", "metrics/blame", "metrics/catalog", "metrics/compare", "metrics/search",
		"metrics/tune", "results/store",
		"report/detail", "report/differences", "report/export", "report/grid", "report/studies", "results/codes",
	}, never: noSystem},
	"report/prompts": {ours: []string{"dataset", "metrics"}, never: pure},
	"report/table":   {ours: []string{"internal/text"}, never: pure},
	"report/markup":  {ours: []string{"report", "report/table"}, never: pure},
	"report/page": {ours: []string{
		"results/store/moments",
		"internal/secrets", "internal/text", "report", "report/detail", "report/markup", "report/table", "report/chart",
		"metrics", "metrics/catalog", "metrics/compare", "metrics/curves", "metrics/telemetry", "results",
		"results/store", "internal/llamabench", "results/codes", "metrics/versus",
	}, never: append([]string{"os"},
		noSystem...)},
	"report/chart": {ours: []string{"metrics/curves"}, never: append([]string{"os"}, noSystem...)},
	"gpu": {ours: []string{
		"results", "gpu/device", "gpu/amd", "gpu/nvidia",
		"internal/proc",
	}, never: noCLI},
	"gpu/device": {ours: []string{"results"}, never: append([]string{"net/http"}, noCLI...)},
	"gpu/amd": {
		ours:  []string{"results", "gpu/device"},
		never: append([]string{"net/http"}, noCLI...),
	},
	"gpu/nvidia": {
		ours:  []string{"results", "gpu/device", "internal/proc"},
		never: append([]string{"net/http"}, noCLI...),
	},
	"gpu/capture": {
		ours:  []string{"gpu", "gpu/device", "gpu/nvidia"},
		never: append([]string{"net/http"}, noCLI...),
	},
	"launchers/caches": {never: append([]string{"net/http", "os/exec"}, noCLI...)},
	"metrics/starts":   {ours: []string{"results"}, never: pure},
	"launchers": {ours: []string{
		"launchers/logs",
		"internal/awake", "results", "launchers/container",
		"launchers/process", "launchers/engines", "launchers/recipe", "launchers/serverlog", "internal/sleep",
		"internal/text", "launchers/ports", "internal/proc", "launchers/vram", "launchers/shm", "launchers/cleanup",
		"launchers/endpoint", "launchers/ready", "internal/secrets", "internal/inside",
	}, never: noCLI},
	"launchers/scrape": {never: pure},
	"launchers/logs":   {ours: []string{"results"}, never: pure},
	"launchers/engines": {ours: []string{
		"launchers/logs", "launchers/scrape",
		"internal/text", "launchers/container", "results",
		"launchers/recipe",
	}, never: append([]string{"net/http", "os", "os/exec"}, noCLI...)},
	"launchers/serverlog": {ours: []string{
		"launchers/logs", "launchers/scrape",
		"internal/inside", "results",
		"internal/secrets", "internal/text",
	}, never: append([]string{"net/http", "os/exec"}, noCLI...)},
	"launchers/recipe": {
		ours: []string{
			"internal/text", "internal/cpus", "gpu/device",
			"results", "launchers/process", "launchers/container", "launchers/ports",
			"internal/secrets", "launchers/vram", "internal/secrets",
		},
		never: append([]string{"net/http", "os", "os/exec"}, noCLI...),
	},
	"launchers/container": {ours: []string{
		"results", "launchers/process", "internal/awake", "internal/output", "internal/sleep", "internal/text",
		"internal/proc", "internal/inside",
	}, never: append([]string{"net/http"}, noCLI...)},
	"launchers/process": {
		ours:  []string{"internal/cpus", "internal/awake", "results", "internal/proc", "internal/inside"},
		never: append([]string{"net/http"}, noCLI...),
	},
	"load": {
		ours: []string{
			"internal/text", "load/spec", "load/dialect", "load/dialect/event", "load/toolcall", "load/wire",
			"load/wire/sse", "metrics", "results", "internal/proc",
		},
		never: append([]string{"os/exec"}, noCLI...),
	},
	"load/spec":     {never: append([]string{"os"}, noSystem...)},
	"load/toolcall": {never: pure},
	"load/dialect": {
		ours: []string{
			"dataset/audio", "internal/pyjson", "load/dialect/event", "load/dialect/rawjson", "load/spec",
			"load/toolcall",
		},
		never: append([]string{"os", "time"}, noSystem...),
	},
	"load/dialect/event": {
		ours:  []string{"internal/secrets", "load/dialect/rawjson", "load/toolcall", "results"},
		never: append([]string{"os", "time"}, noSystem...),
	},
	"load/dialect/rawjson": {never: pure},
	"load/wire": {
		ours:  []string{"internal/cpus", "load/spec", "load/wire/sse", "results", "internal/proc"},
		never: append([]string{"os/exec"}, noCLI...),
	},
	"load/wire/sse": {never: append([]string{"os"}, noSystem...)},
	"load/agent": {
		ours:  []string{"load", "load/dialect", "load/spec", "results", "internal/secrets"},
		never: append([]string{"net/http", "os/exec", "os"}, noCLI...),
	},
	"launchers/simserver": {
		ours:  []string{"dataset/audio", "dataset/exact", "launchers/simserver/simengine"},
		never: append([]string{"os/exec"}, noCLI...),
	},
	"report/live": {
		ours:  []string{"internal/inside", "internal/secrets", "internal/text", "results", "results/store", "metrics"},
		never: noSystem,
	},
	"report/live/web": {ours: []string{
		"internal/secrets", "internal/text", "internal/usage", "report/live", "results",
		"report/markup", "report/chart",
	}, never: append([]string{"os/exec"}, noCLI...)},
	"harness/state": {
		ours: []string{
			"internal/text", "internal/inside", "internal/proc", "internal/sleep", "results", "results/store",
		},
		never: append([]string{"net/http", "os/exec"}, noCLI...),
	},
	"harness/plan": {ours: []string{
		"internal/text", "internal/userfile",
		"internal/cpus",
		"scenarios", "dataset", "dataset/audio", "dataset/prng", "launchers", "launchers/engines", "load/dialect",
		"load/spec",
		"launchers/recipe", "launchers/container", "load", "results", "metrics",
		"metrics/catalog", "metrics/compare", "metrics/curves", "metrics/search", "metrics/telemetry", "gpu",
		"gpu/device", "scenarios/schema", "launchers/vram", "launchers/ports",
	}, never: append([]string{"net/http", "os/exec"}, noCLI...)},
	"harness/plan/identity": {
		ours:  []string{"harness/plan", "internal/text", "internal/userfile", "results"},
		never: append([]string{"net/http", "os/exec"}, noCLI...),
	},
	"harness": {
		ours: []string{
			"launchers/scrape",
			"internal/awake", "internal/sleep", "internal/text", "launchers/endpoint",
			"scenarios", "harness/plan", "harness/hooks", "dataset", "dataset/prng", "dataset/tokenizer", "launchers",
			"launchers/engines", "launchers/recipe", "internal/programs", "load", "results", "metrics",
			"metrics/catalog",
			"metrics/bisect", "metrics/compare", "metrics/curves", "metrics/search", "metrics/telemetry",
			"metrics/tune", "gpu",
			"gpu/device",
			"launchers/ports", "harness/status", "harness/step", "harness/telemetry", "results/store", "harness/life",
			"launchers/caches", "metrics/starts",
		},
		never: append([]string{"net/http", "os/exec"}, noCLI...),
	},
	"harness/telemetry": {
		ours: []string{
			"scenarios", "harness/plan", "harness/status", "harness/step", "internal/sleep", "internal/text",
			"launchers/engines", "results", "metrics", "metrics/telemetry", "gpu", "gpu/device", "results/store",
		},
		never: append([]string{"net/http", "os/exec"}, noCLI...),
	},
	"harness/life": {ours: []string{
		"internal/inside", "harness/plan", "harness/status",
		"harness/step", "launchers/engines", "launchers/ports", "launchers/recipe", "results", "results/store",
		"scenarios", "internal/secrets",
	}, never: append([]string{"net/http", "os/exec"}, noCLI...)},
	"load/vllmcli": {ours: []string{
		"internal/pyjson",
		"internal/text", "internal/userfile", "results", "dataset", "load", "load/dialect",
		"load/spec", "load/toolcall",
	}, never: append([]string{"os", "net/http", "os/exec"}, noCLI...)},
	"harness/status": {
		ours: []string{
			"internal/secrets", "internal/text", "launchers/scrape",
			"launchers", "launchers/engines", "launchers/recipe", "load",
			"results", "metrics", "metrics/curves", "gpu", "gpu/device", "launchers/serverlog", "results/store",
		},
		never: append([]string{"net/http", "os/exec"}, noCLI...),
	},
	"harness/ceiling": {ours: []string{"load", "results"}, never: pure},
	"harness/step": {
		ours: []string{
			"launchers/scrape",
			"harness/ceiling",
			"internal/userfile",
			"launchers/endpoint", "internal/awake", "internal/sleep", "load/spec", "scenarios",
			"harness/plan", "harness/status", "dataset", "dataset/exact", "dataset/mixture",
			"dataset/tokenizer", "launchers",
			"launchers/engines",
			"launchers/recipe", "internal/text", "load", "results", "metrics", "metrics/early", "metrics/parts",
			"metrics/telemetry", "results/store",
		},
		never: append([]string{"net/http", "os/exec"}, noCLI...),
	},
	"harness/hooks": {ours: []string{
		"internal/text", "internal/userfile", "internal/awake", "results", "scenarios",
		"launchers/process", "harness/plan", "harness/status", "launchers/recipe", "internal/secrets",
	}, never: noCLI},
	"harness/suite": {ours: []string{
		"internal/text", "metrics/catalog", "profiles", "report/table", "results", "scenarios",
		"scenarios/parse",
	}, never: append([]string{"os"}, noSystem...)},
	"harness/slurm":  {ours: []string{"internal/output"}, never: noCLI},
	"harness/doctor": {ours: []string{"internal/cpus", "internal/text", "gpu", "results"}, never: noCLI},
	"harness/machine": {
		ours: []string{
			"internal/cpus",
			"gpu", "gpu/device", "harness/hooks", "harness/plan",
			"harness/state", "harness/telemetry", "launchers/cleanup", "launchers/recipe", "results", "scenarios",
			"launchers/caches",
		},
		never: append([]string{"net/http", "os/exec"}, noCLI...),
	},
	"harness/direct": {
		ours: []string{
			"results/vllm",
			"internal/text", "report/detail", "report/table",
			"internal/awake", "internal/inside", "internal/userfile",
			"dataset", "dataset/mixture", "harness/machine", "harness/session", "harness/step",
			"internal/usage", "launchers", "launchers/engines", "launchers/recipe", "load", "load/agent",
			"load/agent/remote", "load/spec", "load/vllmcli", "results", "internal/secrets",
		},
		never: append([]string{"os/exec"}, noCLI...),
	},
	"harness/suite/rounds": {
		ours: []string{
			"results/vllm",
			"internal/inside", "gpu", "gpu/device", "harness/direct", "harness/plan", "harness/telemetry", "scenarios",
			"harness/machine", "harness/session", "harness/step", "harness/suite", "internal/usage", "launchers",
			"launchers/endpoint", "launchers/recipe", "load", "report/detail", "results", "internal/secrets",
		},
		never: append([]string{"net/http", "os/exec"}, noCLI...),
	},
	"harness/doctor/look": {
		ours: []string{
			"internal/cpus",
			"launchers/container", "gpu", "harness/doctor", "harness/hooks",
			"harness/machine", "harness/plan", "harness/step", "internal/text", "launchers/engines", "launchers/ports",
			"launchers/process",
			"launchers/recipe", "load/calibrate", "scenarios", "scenarios/schema",
		},
		never: append([]string{"net/http", "os/exec"}, noCLI...),
	},
	"harness/plan/show": {
		ours: []string{
			"gpu/device", "harness/plan", "load/spec", "internal/text",
			"launchers/engines", "launchers/recipe", "metrics", "results", "scenarios",
		},
		never: append([]string{"os", "net/http", "os/exec"}, noCLI...),
	},
	"results/vllm":      {ours: []string{"internal/pyjson", "results"}, never: append([]string{"os"}, noSystem...)},
	"internal/pyjson":   {never: pure},
	"results/codes":     {ours: []string{"results"}, never: pure},
	"internal/inside":   {never: noSystem},
	"internal/manual":   {},
	"internal/newfile":  {never: noSystem},
	"internal/output":   {never: pure},
	"internal/userfile": {ours: []string{"internal/inside", "internal/usage"}, never: noSystem},
	"harness/leftovers": {
		ours: []string{
			"harness/hooks", "harness/state", "internal/text",
			"launchers/cleanup", "launchers/process", "results", "results/store",
		},
		never: append([]string{"net/http", "os/exec"}, noCLI...),
	},
	"harness/session": {ours: []string{
		"internal/sleep", "launchers/process", "internal/text", "gpu", "gpu/device", "harness/telemetry",
		"harness", "harness/leftovers", "harness/life", "harness/machine", "harness/plan", "harness/plan/identity",
		"harness/state",
		"harness/status", "harness/step", "internal/usage", "launchers", "launchers/cleanup", "launchers/engines",
		"launchers/process", "launchers/recipe", "load", "load/agent", "load/agent/remote", "load/calibrate",
		"profiles", "report/live", "results", "results/store", "scenarios", "scenarios/parse", "scenarios/schema",
		"internal/secrets", "launchers/container",
	}, never: []string{"net/http", "os/exec", "github.com/spf13/cobra"}},
	"harness/cluster": {ours: []string{
		"gpu", "gpu/device", "harness", "harness/machine", "harness/plan",
		"harness/session", "harness/slurm", "internal/inside", "internal/output", "internal/sleep", "internal/text",
		"internal/usage", "launchers/cleanup",
		"launchers/recipe", "report", "report/live", "results", "results/store", "scenarios",
	}, never: noCLI},
	"harness/queue": {ours: []string{
		"harness/state", "internal/inside", "internal/text", "internal/usage", "report/differences", "report/table",
		"results", "results/store", "scenarios",
	}, never: append([]string{"net/http", "os/exec"}, noCLI...)},
	"harness/screen": {ours: []string{
		"harness", "harness/progress", "harness/session", "harness/status", "internal/text", "report/live", "results",
	}, never: []string{"net/http", "os/exec", "github.com/spf13/cobra"}},
	"harness/progress": {ours: []string{
		"load",
		"harness", "harness/status", "internal/text", "report",
		"report/live", "results",
	}, never: []string{"os", "github.com/spf13/cobra"}},
	"harness/reproduce": {ours: []string{
		"report/differences", "report/table",
		"internal/text", "internal/userfile",
		"dataset/tokenizer", "gpu", "harness/hooks", "harness/machine", "harness/plan", "harness/session",
		"internal/usage", "launchers/process", "metrics/versus", "profiles", "results", "results/bundle",
		"results/store", "scenarios", "scenarios/parse",
	}, never: append([]string{"net/http", "os/exec"}, noCLI...)},
	"load/agent/remote": {ours: []string{"load/agent"}, never: append([]string{"net/http"}, noCLI...)},
	"internal/usage":    {never: pure},
	"internal/offer": {ours: []string{
		"internal/text", "metrics/catalog", "metrics/versus", "results", "results/store",
	}, never: noCLI},
	"internal/text": {ours: []string{"internal/secrets"}, never: pure},
	"cmd/bench":     {ours: []string{"*"}},
	"internal/cpus": {
		ours:  []string{"internal/proc"},
		never: append([]string{"net/http", "os/exec"}, noCLI...),
	},
	"internal/executable":    {},
	"internal/busy":          {},
	"internal/fakeengine":    {},
	"internal/fakecontainer": {ours: []string{"internal/executable"}},
	"internal/fakegpu":       {ours: []string{"internal/executable", "gpu/device", "results"}},
	"internal/freeport":      {ours: []string{"internal/proc"}},
	"internal/slurmtest":     {ours: []string{"internal/freeport", "internal/proc"}},
	"internal/loadtest":      {},
	"internal/goldentest":    {},
	"internal/schematest":    {never: pure},
	"internal/studies":       {},
	"internal/site":          {},
	"internal/awake":         {ours: []string{"internal/sleep"}, never: append([]string{"os"}, noSystem...)},
	"internal/sleep":         {never: append([]string{"os"}, noSystem...)},
	"launchers/ports": {
		ours:  []string{"results", "internal/awake", "internal/proc", "internal/sleep"},
		never: append([]string{"net/http", "os/exec"}, noCLI...),
	},
	"internal/proc": {never: noSystem},
	"launchers/vram": {
		ours:  []string{"internal/awake", "results", "internal/sleep", "internal/text"},
		never: append([]string{"os"}, noSystem...),
	},
	"launchers/shm": {ours: []string{"results", "internal/proc"}, never: noSystem},
	"launchers/cleanup": {
		ours: []string{
			"internal/text", "results", "launchers/container", "launchers/process",
			"launchers/ports", "launchers/shm", "launchers/vram", "internal/proc", "internal/sleep",
		},
		never: append([]string{"net/http", "os/exec"}, noCLI...),
	},
	"launchers/simserver/simbench": {
		ours:  []string{"launchers/simserver/simengine", "metrics", "results"},
		never: noCLI,
	},
	"launchers/simserver/simflags": {
		ours: []string{"launchers/simserver/simengine"}, never: append([]string{"os"}, noSystem...),
	},
	"launchers/simserver/simengine": {never: append([]string{"os"}, noSystem...)},
	"launchers/endpoint": {
		ours: []string{
			"dataset/audio",
			"launchers/logs", "launchers/scrape",
			"results", "launchers/engines", "launchers/recipe",
			"launchers/serverlog", "internal/awake", "internal/sleep", "internal/text", "internal/secrets",
		},
		never: append([]string{"os", "os/exec"}, noCLI...),
	},
	"launchers/ready": {
		ours: []string{
			"results", "launchers/endpoint", "launchers/engines",
			"launchers/recipe", "launchers/serverlog", "internal/sleep", "internal/text",
		},
		never: append([]string{"os", "os/exec"}, noCLI...),
	},
	"gpu/show": {
		ours:  []string{"gpu", "gpu/device", "internal/text", "results"},
		never: append([]string{"os", "net/http", "os/exec"}, noCLI...),
	},
	"report/grid": {ours: []string{
		"metrics/catalog", "internal/text", "metrics", "metrics/compare",
		"metrics/versus", "report/table", "results",
	}, never: pure},
	"report/detail": {ours: []string{
		"results/vllm",
		"metrics/catalog", "internal/text", "metrics", "metrics/versus",
		"report/grid", "report/table", "results", "results/codes", "results/store",
	}, never: noSystem},
	"report/studies": {ours: []string{
		"launchers/engines", "internal/text", "metrics", "metrics/bisect", "metrics/blame",
		"metrics/catalog", "metrics/compare", "metrics/search", "metrics/tune", "metrics/versus", "report/detail",
		"report/grid", "report/table", "results",
	}, never: pure},
	"report/differences": {ours: []string{
		"internal/text", "metrics", "metrics/catalog", "metrics/compare",
		"metrics/versus", "report/grid", "report/table", "results",
	}, never: pure},
	"report/export/parquet": {never: pure},
	"report/export/mlflow": {
		ours:  []string{"internal/inside", "internal/usage"},
		never: append([]string{"time"}, noSystem...),
	},
	"report/export": {ours: []string{
		"internal/text", "metrics", "metrics/catalog", "metrics/compare", "metrics/history",
		"metrics/versus", "report/export/mlflow", "report/export/parquet", "report/grid", "report/table", "results",
		"results/store",
	}, never: append([]string{"os", "net/http", "os/exec"}, noCLI...)},
	"internal/stranger":              {},
	"internal/realcontainer":         {ours: []string{"internal/fakeengine", "internal/text"}},
	"internal/fakeengine/standalone": {ours: []string{"internal/fakeengine"}},
}

// onlyUser names modules that one package may import, or the few listed, so
// that moving on from one stays a local change.
var onlyUser = map[string]string{
	"gopkg.in/yaml.v3":                   "scenarios/schema",
	"github.com/shirou/gopsutil/v3":      "gpu",
	"github.com/NVIDIA/go-nvml":          "gpu/nvidia",
	"github.com/spf13/cobra":             "cmd/bench internal/manual",
	"github.com/rs/zerolog":              "harness/progress harness/screen harness/session",
	"github.com/jedib0t/go-pretty/v6":    "report/table",
	"github.com/aclements/go-moremath":   "metrics/compare",
	"github.com/dlclark/regexp2/v2":      "dataset/tokenizer/pattern",
	"github.com/parquet-go/parquet-go":   "dataset/table report/export/parquet",
	"charm.land/bubbletea/v2":            "report/live",
	"charm.land/lipgloss/v2":             "report/live",
	"github.com/VictoriaMetrics/metrics": "report/live/web",
	"github.com/yuin/goldmark":           "internal/site",
}

func TestLayout(t *testing.T) {
	for pkg, files := range goFiles(t) {
		r, ok := rules[pkg]
		if !ok {
			t.Errorf("package %q has no rule in layout_test.go", pkg)
			continue
		}
		for _, file := range files {
			for _, imported := range imports(t, file) {
				checkImport(t, pkg, r, file, imported)
			}
		}
	}
}

func checkImport(t *testing.T, pkg string, r rule, file, imported string) {
	t.Helper()
	if own, isOurs := strings.CutPrefix(imported, "github.com/benchrig/bench/"); isOurs {
		if !slices.Contains(r.ours, own) && !slices.Contains(r.ours, "*") {
			t.Errorf("%s: package %s must not import %s", file, pkg, own)
		}
		return
	}
	if slices.Contains(r.never, imported) {
		t.Errorf("%s: package %s must not import %s", file, pkg, imported)
	}
	for other, user := range onlyUser {
		if (imported == other || strings.HasPrefix(imported, other+"/")) &&
			!slices.Contains(strings.Fields(user), pkg) {
			t.Errorf("%s: only %s may import %s", file, user, other)
		}
	}
}

// goFiles lists the non-test Go files of the module by package folder, every
// build tag included. It reads the folders itself: the test cache only
// notices changes of files that the test opens.
func goFiles(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case strings.HasSuffix(p, ".go") && !strings.HasSuffix(p, "_test.go"):
			out[path.Dir(filepath.ToSlash(p))] = append(out[path.Dir(filepath.ToSlash(p))], p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func imports(t *testing.T, file string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, spec := range f.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

// A pattern over a path that a user has given means something else where the
// path holds brackets or stars. Package store has a listing that does not.
func TestNoGlobOverUserPaths(t *testing.T) {
	// patterns below /sys, and of our own
	known := []string{"gpu", "gpu/amd", "gpu/capture", "harness/doctor/look", "harness/hooks", "internal/studies"}
	for pkg, files := range goFiles(t) {
		if slices.Contains(known, pkg) {
			continue
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), "filepath."+"Glob(") {
				t.Errorf("%s: filepath.Glob over a path of the user's; use store.Matching", file)
			}
		}
	}
}

// What is waited for in a run may have been stopped together with bench, such as a server
// on a laptop that slept: limits count the time in which bench ran (internal/awake).
func TestLimitsOfRunsCountTimeAwake(t *testing.T) {
	byTheClock := map[string]string{ // file: why
		"harness/run.go":                 "the run's limit is a time of day",
		"harness/session/session.go":     "waits for another bench, which does not stop with this one",
		"harness/slurm/client.go":        "programs that are asked again",
		"harness/cluster/facts.go":       "programs of other nodes",
		"harness/cluster/sweep.go":       "programs of other nodes",
		"harness/telemetry/strangers.go": "asks again",
		"harness/step/servermetrics.go":  "asks again",
		"launchers/vram/proof.go":        "the user wants the end",
	}
	for _, dir := range []string{"harness", "launchers"} {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
				strings.Contains(path, "simserver") {
				return err
			}
			text, err := os.ReadFile(path)
			_, excepted := byTheClock[filepath.ToSlash(path)]
			found := strings.Contains(string(text), "context.WithTimeout") ||
				strings.Contains(string(text), "context.WithDeadline")
			if found != excepted {
				t.Errorf("%s: uses context.WithTimeout: %t; its limits should be internal/awake's, or the list has a reason",
					path, found)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

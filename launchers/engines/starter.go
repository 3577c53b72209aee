package engines

import (
	"fmt"
	"strings"
)

// starterHead is the beginning of a starter scenario.
func starterHead(of, name string) string {
	return "# A starter scenario for " + of + `. Adapt it, then:
#   bench validate FILE      checks it
#   bench plan FILE          shows every command, touches nothing
#   bench run FILE
schema: 1
name: my-` + name + `
description: One line that says what this compares

`
}

// Parts that starter scenarios share: the load of kinds for large models, and
// the end.
const (
	starterLoad = `
load:
  endpoint: completions            # or chat
  dataset: {kind: random, seed: 0} # or sharegpt, jsonl with path: FILE
  num-prompts: 256
  input-len: 1024
  output-len: 128
  sweep: {max-concurrency: [1, 8, 32, 128]}
`
	// starterToken is for gated models, and starterImageToken where the server is in a container.
	starterToken = `  # env: {HF_TOKEN: "${env:HF_TOKEN}"}   # from your shell, never written to the results
`
	starterImageToken = `  # env: {HF_TOKEN: "${env:HF_TOKEN}"}   # for gated models: ` +
		"a container inherits no variable of your shell\n"
	// starterSmallLoad is for servers that may be small.
	starterSmallLoad = `
load:
  endpoint: completions            # or chat
  dataset: {kind: random, seed: 0} # or sharegpt, jsonl with path: FILE
  num-prompts: 64
  input-len: 512
  output-len: 128
  sweep: {max-concurrency: [1, 4, 8]}
`
	starterEnd = `
repeats: 3                         # server starts of each variant; differences need at least 3
order: interleaved
restart: variant
on-failure: continue
deadlines: {step: 30m, run: 12h}
`
)

// TemplateInImage is the starter scenario with the makers' image in place of a
// program of this machine.
func (k Kind) TemplateInImage() string {
	var out strings.Builder
	for line := range strings.Lines(strings.Replace(k.Template, starterToken, starterImageToken, 1)) {
		if strings.HasPrefix(line, "  # binary:") {
			continue
		}
		out.WriteString(line)
		if line != "  launcher: "+k.Name+"\n" {
			continue
		}

		fmt.Fprintf(&out, "  container:\n    image: %s\n", k.Image.Name)
		if k.Image.AMD != "" {
			fmt.Fprintf(&out, "    # image: %s   # on AMD\n", k.Image.AMD)
		}
		out.WriteString("    # engine: podman             # default: docker or podman, whichever answers\n" +
			"    cache: ${env:HOME}/.cache    # downloads and compiled kernels stay between starts\n")
	}
	return out.String()
}

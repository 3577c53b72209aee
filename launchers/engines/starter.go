package engines

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

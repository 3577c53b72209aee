package programs

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/benchrig/bench/results"
)

// mostTokens bounds what a row may say of lengths.
const mostTokens = 1 << 31

// readBatched reads a row of llama-batched-bench --output-format jsonl: so many
// prompts at once, and then their answers.
func readBatched(object []byte) (Output, error) {
	var row struct {
		PromptS    number `json:"t_pp"`
		PromptRate number `json:"speed_pp"`
		AnswerS    number `json:"t_tg"`
		AnswerRate number `json:"speed_tg"`
		WholeRate  number `json:"speed"`

		PP json.Number `json:"pp"`
		TG json.Number `json:"tg"`
		PL json.Number `json:"pl"`
	}
	if err := json.Unmarshal(object, &row); err != nil {
		return Output{}, err
	}

	var sizes [3]int64
	for i, n := range []json.Number{row.PP, row.TG, row.PL} {
		size, err := strconv.ParseInt(n.String(), 10, 64)
		if err != nil || size < 0 || size > mostTokens {
			return Output{}, fmt.Errorf("pp, tg and pl are %s, %s and %s: not numbers of tokens and sequences", row.PP,
				row.TG, row.PL)
		}
		sizes[i] = size
	}
	if sizes[2] == 0 {
		return Output{}, errors.New("pl is 0: no sequence was processed")
	}

	out := Output{Settings: settingsOf(object)}
	test := fmt.Sprintf("pp%d tg%d B%d", sizes[0], sizes[1], sizes[2])
	stem := fmt.Sprintf("pp%d_tg%d_b%d", sizes[0], sizes[1], sizes[2])
	add := func(name, title, unit string, higher bool, v number) {
		out.add(results.Measure{
			Name: stem + "_" + name, Title: test + ", " + title, Unit: unit, Higher: higher, N: 1,
		}, v)
	}

	if sizes[0] > 0 {
		add("prefill_tokens_per_s", "prefill", "tok/s", true, row.PromptRate)
	}
	if sizes[1] > 0 {
		add("decode_tokens_per_s", "decode", "tok/s", true, row.AnswerRate)
		out.checkRate(test, row.AnswerRate, row.AnswerS, sizes[1]*sizes[2])
	}
	add("tokens_per_s", "both", "tok/s", true, row.WholeRate)
	if sizes[0] > 0 {
		add("prefill_s", "prefill", "s", false, row.PromptS)
	}
	if sizes[1] > 0 {
		add("decode_s", "decode", "s", false, row.AnswerS)
	}
	return out, nil
}

// checkRate notes a rate that does not follow from its time. Times are printed with
// six decimals.
func (out *Output) checkRate(test string, rate, seconds number, tokens int64) {
	const printed = 1e-6
	if rate.value == nil || seconds.value == nil || *seconds.value < 100*printed {
		return
	}
	if again := float64(tokens) / *seconds.value; differ(again, *rate.value) && !math.IsInf(again, 0) {
		out.notef("%s: speed_tg is %.4g, and %d tokens in %.4g s are %.4g", test, *rate.value, tokens, *seconds.value,
			again)
	}
}

// settingsOf are the settings of a row, as the program names them.
func settingsOf(object []byte) map[string]string {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return nil
	}

	settings := map[string]string{}
	for _, name := range []string{
		"n_kv_max", "n_batch", "n_ubatch", "flash_attn", "is_pp_shared", "n_gpu_layers", "n_threads", "n_threads_batch",
	} {
		if raw, ok := members[name]; ok && len(raw) < 100 {
			settings[name] = string(raw)
		}
	}
	return settings
}

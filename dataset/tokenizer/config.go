package tokenizer

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// config is what is beside a tokenizer.json, as far as it changes ids. Keys
// that do not are not looked at.
type config struct {
	Class       string                `json:"tokenizer_class"`
	AddBOS      *bool                 `json:"add_bos_token"`
	AddEOS      *bool                 `json:"add_eos_token"`
	PrefixSpace *bool                 `json:"add_prefix_space"`
	CleanUp     bool                  `json:"clean_up_tokenization_spaces"`
	Added       map[string]addedToken `json:"added_tokens_decoder"` // by id

	roles    []addedToken // bos, eos and so on, in that order
	bos, eos string
}

// roleNames are the keys that give tokens a role.
var roleNames = [...]string{
	"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token",
}

// parseConfig reads tokenizer_config.json and special_tokens_map.json; either
// may be nil.
func parseConfig(main, specials []byte) (*config, error) {
	c := &config{}
	keys := map[string]json.RawMessage{}
	if main != nil {
		if err := json.Unmarshal(main, c); err != nil {
			return nil, fmt.Errorf("%s: %w", configFile, err)
		}
		if err := json.Unmarshal(main, &keys); err != nil {
			return nil, fmt.Errorf("%s: %w", configFile, err)
		}
	}

	// With added_tokens_decoder the older file is not looked at.
	if specials != nil && c.Added == nil {
		var more map[string]json.RawMessage
		if err := json.Unmarshal(specials, &more); err != nil {
			return nil, fmt.Errorf("%s: %w", specialsFile, err)
		}
		maps.Copy(keys, more)
	}
	if err := c.readRoles(keys); err != nil {
		return nil, fmt.Errorf("%s: %w", configFile, err)
	}

	return c, nil
}

// classRoles are the tokens that a class gives a role unless the file does.
func classRoles(class string) map[string]string {
	const gpt = "<|endoftext|>"
	switch class {
	case "LlamaTokenizer", "LlamaTokenizerFast", "CodeLlamaTokenizer", "CodeLlamaTokenizerFast":
		return map[string]string{"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
	case "GemmaTokenizer", "GemmaTokenizerFast":
		return map[string]string{"bos_token": "<bos>", "eos_token": "<eos>", "unk_token": "<unk>", "pad_token": "<pad>"}
	case "GPT2Tokenizer", "GPT2TokenizerFast":
		return map[string]string{"bos_token": gpt, "eos_token": gpt, "unk_token": gpt}
	case "Qwen2Tokenizer", "Qwen2TokenizerFast":
		return map[string]string{"eos_token": gpt, "unk_token": gpt, "pad_token": gpt}
	}
	return nil
}

func (c *config) readRoles(keys map[string]json.RawMessage) error {
	byClass := classRoles(c.Class)
	for _, name := range roleNames {
		token, err := roleToken(keys[name])
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if _, said := keys[name]; !said && byClass[name] != "" {
			token = addedToken{Content: byClass[name], Special: true}
		}
		if token.Content == "" {
			continue
		}
		c.roles = append(c.roles, token)
		switch name {
		case "bos_token":
			c.bos = token.Content
		case "eos_token":
			c.eos = token.Content
		}
	}

	for _, name := range []string{"additional_special_tokens", "extra_special_tokens"} {
		tokens, err := roleTokens(keys[name])
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		c.roles = append(c.roles, tokens...)
	}

	return nil
}

// roleToken reads a token that is a string or an object; empty: none.
func roleToken(raw json.RawMessage) (addedToken, error) {
	if isNull(raw) {
		return addedToken{}, nil
	}
	token := addedToken{}
	if raw[0] == '"' {
		err := json.Unmarshal(raw, &token.Content)
		token.Special = true
		return token, err
	}
	err := json.Unmarshal(raw, &token)
	token.Special = true
	return token, err
}

// roleTokens reads a list of tokens, or tokens by name.
func roleTokens(raw json.RawMessage) ([]addedToken, error) {
	if isNull(raw) {
		return nil, nil
	}

	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		var named map[string]json.RawMessage
		if err := json.Unmarshal(raw, &named); err != nil {
			return nil, err
		}
		for _, name := range slices.Sorted(maps.Keys(named)) {
			list = append(list, named[name])
		}
	}

	var out []addedToken
	for _, item := range list {
		token, err := roleToken(item)
		if err != nil {
			return nil, err
		}
		if token.Content != "" {
			out = append(out, token)
		}
	}

	return out, nil
}

// addTokens adds what the file lacks: first tokens by id, then those of a role.
func (c *config) addTokens(list *addedList) error {
	type numbered struct {
		id    int
		token addedToken
	}

	var tokens []numbered
	for key, token := range c.Added {
		id, err := strconv.Atoi(key)
		if err != nil || id < 0 {
			return fmt.Errorf("added_tokens_decoder: id %q: want a number", key)
		}
		tokens = append(tokens, numbered{id, token})
	}

	slices.SortStableFunc(tokens, func(a, b numbered) int { return a.id - b.id })
	for _, t := range tokens {
		if err := list.take(t.token, t.id); err != nil {
			return fmt.Errorf("added_tokens_decoder: %w", err)
		}
	}

	for _, role := range c.roles {
		if _, there := list.byContent[role.Content]; there {
			continue
		}
		if err := list.take(role, -1); err != nil {
			return err
		}
	}

	return nil
}

// frame is what opens and closes a sequence. Some classes make it again from
// two settings, whatever the tokenizer.json says.
func (c *config) frame(f frame, vocab *vocabulary) (frame, error) {
	switch c.Class {
	case "LlamaTokenizer", "LlamaTokenizerFast", "CodeLlamaTokenizer", "CodeLlamaTokenizerFast",
		"GemmaTokenizer", "GemmaTokenizerFast", "CohereTokenizer", "CohereTokenizerFast":
	default:
		return f, nil
	}

	f = frame{}
	if c.AddBOS == nil || *c.AddBOS {
		id, known := vocab.anyID(c.bos)
		if !known {
			return f, fmt.Errorf("%s: add_bos_token without a bos_token", configFile)
		}
		f.before = []int{id}
	}

	if c.AddEOS != nil && *c.AddEOS {
		id, known := vocab.anyID(c.eos)
		if !known {
			return f, fmt.Errorf("%s: add_eos_token without an eos_token", configFile)
		}
		f.after = []int{id}
	}

	return f, nil
}

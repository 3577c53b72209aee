package dialect

import "encoding/json"

// Prompt is one request to make, or a conversation of several. Exactly one of
// Text, TokenIDs and Audio is set.
type Prompt struct {
	Text         string
	TokenIDs     []int
	InputTokens  int      // length as the dataset knows it; 0: unknown
	OutputTokens int      // max_tokens to ask for; 0: leave it to the server
	Audio        []byte   `json:",omitempty"` // a WAV file to be transcribed
	AudioS       float64  `json:",omitempty"` // how long it plays, seconds
	Images       []string // data URLs, after the text; for chat and Ollama
	// Texts go with Text in one request: more to embed, or the documents that it is
	// a query for.
	Texts []string
	// Tools are what answers may call, as chat completions have it; they replace those of the settings.
	Tools json.RawMessage `json:",omitempty"`
	// Turns are the user's further turns: each is sent when the answers that it
	// waits for have ended, with all that was said so far. Chat APIs get it as
	// messages; others as one text, in which each answer follows its turn
	// directly, as the model wrote it, and a newline precedes the next turn.
	Turns []Turn
	Class int    `json:",omitempty"` // of spec.Settings.Classes, from 1; 0: none
	Model string `json:",omitempty"` // to ask for, a LoRA adapter; "": the pass's model
}

// Turn is a further request of a conversation or session. Its place in Turns,
// counted from 1, is its number; the prompt itself is number 0.
type Turn struct {
	Text         string
	TokenIDs     []int // instead of Text, only where Whole
	InputTokens  int   // length of a whole turn as the dataset knows it; 0: unknown
	OutputTokens int   // 0: leave it to the server
	Whole        bool  // this is the whole prompt; otherwise it continues what was said before
	// After are lower numbers whose answers it waits for; it continues the first. Nil: the one before it. Empty: none,
	// so that it is sent WaitS after the prompt itself, and must be Whole.
	After []int
	WaitS *float64 // seconds from the last of these answers until it is sent; nil: the load's think time
}

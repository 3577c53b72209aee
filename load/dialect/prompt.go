package dialect

// Prompt is one request to make, or a conversation of several. Exactly one of
// Text and TokenIDs is set.
type Prompt struct {
	Text         string
	TokenIDs     []int
	InputTokens  int      // length as the dataset knows it; 0: unknown
	OutputTokens int      // max_tokens to ask for; 0: leave it to the server
	Images       []string // data URLs, after the text; for chat and Ollama
	// Turns are the user's further turns: each is sent as soon as the answer
	// before it has ended, with all that was said so far. Chat APIs get it as
	// messages; others as one text, in which each answer follows its turn
	// directly, as the model wrote it, and a newline precedes the next turn.
	Turns []Turn
}

// Turn is a further turn of the user in a conversation.
type Turn struct {
	Text         string
	OutputTokens int // 0: leave it to the server
}

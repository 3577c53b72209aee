package load

import (
	"github.com/benchrig/bench/load/dialect"
	"github.com/benchrig/bench/load/wire"
)

// What a pass takes, by the names that its users know.
type (
	// Prompt is one request to make, or a conversation of several.
	Prompt = dialect.Prompt
	// Turn is a further turn of the user in a conversation.
	Turn = dialect.Turn
	// Place is where the threads run that read answers.
	Place = wire.Place
)

package tokenizer

import (
	"slices"
	"strings"
	"sync"
)

// A cache holds cachedWords words of at most cachedBytes bytes: some 10 MB.
const (
	cachedWords = 1 << 16
	cachedBytes = 48
)

// wordCache remembers the ids of words that were seen first. It never grows
// beyond its bound and is safe for use by several goroutines.
type wordCache struct {
	mu  sync.RWMutex // guards ids
	ids map[string][]int
}

func (c *wordCache) get(word string) ([]int, bool) {
	if len(word) > cachedBytes {
		return nil, false
	}
	c.mu.RLock()
	ids, ok := c.ids[word]
	c.mu.RUnlock()
	return ids, ok
}

func (c *wordCache) put(word string, ids []int) {
	if len(word) > cachedBytes {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ids == nil {
		c.ids = make(map[string][]int)
	}
	if len(c.ids) < cachedWords {
		// Not a part of the text, which may be large and would stay.
		c.ids[strings.Clone(word)] = slices.Clone(ids)
	}
}

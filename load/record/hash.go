package record

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// blockBytes is the length of a hashed block. Replayed blocks have as many
// tokens as a block had on average.
const blockBytes = 256

// hasher makes hashes that tell nothing without its key.
type hasher struct{ key []byte }

// prompt is a request's prompt in hashes.
type prompt struct {
	bytes  int
	blocks []uint64 // each depends on all before it; the last may be shorter than a block
	pieces []uint64 // after each piece, of it and all before it
}

// prompt hashes the pieces of a prompt. Every block's hash covers all text up
// to its end, as the blocks of servers' prefix caches do.
func (h *hasher) prompt(pieces []string) prompt {
	var p prompt
	state := make([]byte, sha256.Size)
	var open []byte // of a block that is not full
	for _, piece := range pieces {
		p.bytes += len(piece)
		open = append(open, piece...)
		for len(open) >= blockBytes {
			state = h.sum("block", state, open[:blockBytes])
			p.blocks = append(p.blocks, short(state))
			open = open[blockBytes:]
		}
		p.pieces = append(p.pieces, short(h.sum("piece", state, open)))
	}
	if len(open) > 0 {
		p.blocks = append(p.blocks, short(h.sum("rest", state, open)))
	}
	return p
}

// name hashes a session's name.
func (h *hasher) name(text string) string {
	return hex.EncodeToString(h.sum("name", nil, []byte(text))[:6])
}

func (h *hasher) sum(what string, before, text []byte) []byte {
	mac := hmac.New(sha256.New, h.key)
	mac.Write([]byte(what))
	mac.Write(before)
	mac.Write(text)
	return mac.Sum(nil)
}

// short is a number that every reader of JSON keeps exactly: below 2^53.
func short(sum []byte) uint64 { return binary.BigEndian.Uint64(sum) >> 11 }

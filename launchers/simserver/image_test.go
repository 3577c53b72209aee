package simserver

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"image"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/benchrig/bench/launchers/simserver/simengine"
)

// picture is a data URL of a grey image.
func picture(t *testing.T, format string, width, height int) string {
	t.Helper()
	var file bytes.Buffer
	of := image.NewGray(image.Rect(0, 0, width, height))
	err := png.Encode(&file, of)
	if format == "jpeg" {
		file.Reset()
		err = jpeg.Encode(&file, of, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return "data:image/" + format + ";base64," + base64.StdEncoding.EncodeToString(file.Bytes())
}

// asked is a chat request of a text and images.
func asked(t *testing.T, urls ...string) []byte {
	t.Helper()
	parts := []any{map[string]any{"type": "text", "text": "what is this"}}
	for _, url := range urls {
		parts = append(parts, map[string]any{"type": "image_url", "image_url": map[string]string{"url": url}})
	}
	body, err := json.Marshal(map[string]any{
		"messages":   []any{map[string]any{"role": "user", "content": parts}},
		"max_tokens": 4,
	})
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// Images take tokens by their size, and no two the same.
func TestImagesTakeTokens(t *testing.T) {
	p := testParser(false)
	p.maxLen = 4096
	text, e := p.parse(asked(t), chatAPI())
	if e != nil {
		t.Fatal(e.message)
	}
	for _, c := range []struct {
		format        string
		width, height int
		want          int
	}{
		{"jpeg", 512, 512, 19*19 + 2},
		{"png", 28, 28, 3},
		{"png", 29, 1, 4},
	} {
		url := picture(t, c.format, c.width, c.height)
		one, e := p.parse(asked(t, url), chatAPI())
		if e != nil {
			t.Fatal(e.message)
		}
		if got := len(one.prompt) - len(text.prompt); got != c.want {
			t.Errorf("%s of %d x %d takes %d tokens, want %d", c.format, c.width, c.height, got, c.want)
		}
		two, e := p.parse(asked(t, url, picture(t, "png", 57, 57)), chatAPI())
		if e != nil || len(two.prompt)-len(one.prompt) != 3*3+2 {
			t.Errorf("a second image takes %d tokens, %v, want 11", len(two.prompt)-len(one.prompt), e)
		}
	}
	first, _ := p.parse(asked(t, picture(t, "png", 56, 56)), chatAPI())
	again, _ := p.parse(asked(t, picture(t, "png", 56, 56)), chatAPI())
	other, _ := p.parse(asked(t, picture(t, "jpeg", 56, 56)), chatAPI())
	if !slices.Equal(first.prompt, again.prompt) || slices.Equal(first.prompt, other.prompt) {
		t.Error("the same image must give the same tokens, and another one others")
	}
}

// A llama-server with a projector takes images.
func TestImagesThroughAProjector(t *testing.T) {
	p := testParser(true)
	p.blind = false
	if g, e := p.parse(asked(t, picture(t, "png", 56, 56)), chatAPI()); e != nil || len(g.prompt) < 2*2+2 {
		t.Errorf("parse = %d tokens, %v, want those of the image", len(g.prompt), e)
	}

	cfg := simengine.Config{Persona: simengine.PersonaLlamaCpp, Projector: "mm.gguf"}
	if blind := newServer(mustResolve(t, cfg), nil, nil).parser.blind; blind {
		t.Error("a server with --mmproj refuses images")
	}
	cfg.Projector = ""
	if blind := newServer(mustResolve(t, cfg), nil, nil).parser.blind; !blind {
		t.Error("a server without --mmproj takes images")
	}
}

func TestImagesAreRefused(t *testing.T) {
	large := "data:image/png;base64," + base64.StdEncoding.EncodeToString(pngHeader(20000, 20000))
	for _, c := range []struct {
		name     string
		llamaCpp bool
		url      string
		status   int
		want     string
	}{
		{"llama-server without a projector", true, picture(t, "png", 28, 28), 500, "mmproj"},
		{"a size that no image has", false, large, 400, "20000 x 20000 pixels"},
		{"longer than the context", false, picture(t, "png", 1000, 1000), 400, "maximum context length is 512"},
		{"another format", false, "data:image/gif;base64,R0lG", 400, "want data:image/jpeg"},
	} {
		_, e := testParser(c.llamaCpp).parse(asked(t, c.url), chatAPI())
		if e == nil || e.status != c.status || !strings.Contains(e.message, c.want) {
			t.Errorf("%s: parse = %+v, want %d with %q", c.name, e, c.status, c.want)
		}
	}
}

// pngHeader is the beginning of a file that claims a size.
func pngHeader(width, height int) []byte {
	var file bytes.Buffer
	_ = png.Encode(&file, image.NewGray(image.Rect(0, 0, 1, 1)))
	head := file.Bytes()
	const size, data, end = 16, 12, 29 // of the width, of what the checksum covers, of the checksum
	binary.BigEndian.PutUint32(head[size:], uint32(width))
	binary.BigEndian.PutUint32(head[size+4:], uint32(height))
	binary.BigEndian.PutUint32(head[end:], crc32.ChecksumIEEE(head[data:end]))
	return head
}

// chatAPI reads chat requests.
func chatAPI() api { return new(server).openAI(true) }

package launchers

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"image"
	"image/png"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/benchrig/bench/launchers/endpoint"
	"github.com/benchrig/bench/launchers/recipe"
)

// projector writes a file that llama-server takes for --mmproj: one small layer
// over images of 28 x 28 pixels, onto models of the given width. All its weights are
// alike: what it sees does not matter here.
func projector(t *testing.T, width uint64) string {
	t.Helper()
	const embedding, hidden, patch, patches = 16, 32, 14, 4
	var head, tensors []byte
	var offset, fields, count uint64
	text := func(b []byte, s string) []byte {
		return append(binary.LittleEndian.AppendUint64(b, uint64(len(s))), s...)
	}
	field := func(name string, kind uint32, value any) {
		head = binary.LittleEndian.AppendUint32(text(head, name), kind)
		if s, ok := value.(string); ok {
			head = text(head, s)
		} else {
			head, _ = binary.Append(head, binary.LittleEndian, value)
		}
		fields++
	}
	const u32, f32, boolean, str, list = 4, 6, 7, 8, 9
	field("general.architecture", str, "clip")
	field("clip.projector_type", str, "mlp")
	field("clip.has_vision_encoder", boolean, true)
	field("clip.use_gelu", boolean, true)
	for name, value := range map[string]uint32{
		"image_size": 2 * patch, "patch_size": patch, "embedding_length": embedding, "feed_forward_length": hidden,
		"projection_dim": uint32(width), "block_count": 1, "attention.head_count": 2,
	} {
		field("clip.vision."+name, u32, value)
	}
	field("clip.vision.attention.layer_norm_epsilon", f32, float32(1e-5))
	for _, name := range []string{"image_mean", "image_std"} {
		field("clip.vision."+name, list, struct {
			Kind   uint32
			Length uint64
			Values [3]float32
		}{f32, 3, [3]float32{0.5, 0.5, 0.5}})
	}

	info := []byte{}
	tensor := func(name string, dims ...uint64) {
		info = binary.LittleEndian.AppendUint32(text(info, name), uint32(len(dims)))
		size := uint64(1)
		for _, d := range dims {
			info = binary.LittleEndian.AppendUint64(info, d)
			size *= d
		}
		info = binary.LittleEndian.AppendUint32(info, 0) // float32
		info = binary.LittleEndian.AppendUint64(info, offset)
		for range size {
			tensors, _ = binary.Append(tensors, binary.LittleEndian, float32(0.01))
		}
		tensors = padTo32(tensors)
		offset = uint64(len(tensors))
		count++
	}
	layer := func(name string, dims ...uint64) {
		tensor(name+".weight", dims...)
		tensor(name+".bias", dims[len(dims)-1])
	}
	tensor("v.class_embd", embedding)
	tensor("v.patch_embd.weight", patch, patch, 3, embedding)
	tensor("v.position_embd.weight", embedding, patches+1)
	for _, name := range []string{"v.pre_ln", "v.blk.0.ln1", "v.blk.0.ln2", "v.post_ln"} {
		layer(name, embedding)
	}
	for _, name := range []string{"attn_q", "attn_k", "attn_v", "attn_out"} {
		layer("v.blk.0."+name, embedding, embedding)
	}
	layer("v.blk.0.ffn_up", embedding, hidden)
	layer("v.blk.0.ffn_down", hidden, embedding)
	layer("mm.0", embedding, width)
	layer("mm.2", width, width)

	file := binary.LittleEndian.AppendUint32([]byte("GGUF"), 3)
	file = binary.LittleEndian.AppendUint64(file, count)
	file = binary.LittleEndian.AppendUint64(file, fields)
	file = padTo32(append(append(file, head...), info...))
	path := filepath.Join(t.TempDir(), "mmproj.gguf")
	if err := os.WriteFile(path, append(file, tensors...), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func padTo32(b []byte) []byte { return append(b, make([]byte, (32-len(b)%32)%32)...) }

// TestRealLlamaServerSees: with a projector a real llama-server takes an image as
// prompt tokens.
func TestRealLlamaServerSees(t *testing.T) {
	t.Parallel()
	const width = 128 // of the tiny model
	b := realLlama(t, recipe.Arg{Name: "mmproj", Value: projector(t, width)})
	server := b.launch(t)

	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 28, 28))); err != nil {
		t.Fatal(err)
	}
	url := "data:image/png;base64," + base64.StdEncoding.EncodeToString(picture.Bytes())
	part := map[string]any{"type": "text", "text": "Hello"}
	tokens := map[bool]int{}
	for _, sees := range []bool{false, true} {
		content := []any{part}
		if sees {
			content = append(content, map[string]any{"type": "image_url", "image_url": map[string]any{"url": url}})
		}
		a := server.Ask(t.Context(), http.MethodPost, endpoint.ChatPath, map[string]any{
			"max_tokens": 1, "messages": []any{map[string]any{"role": "user", "content": content}},
		}, time.Minute)
		var answer struct {
			Usage struct {
				Input int `json:"prompt_tokens"`
			} `json:"usage"`
		}
		if !a.OK() || json.Unmarshal(a.Body, &answer) != nil {
			t.Fatalf("with an image %t: %s", sees, a)
		}
		tokens[sees] = answer.Usage.Input
	}
	if tokens[true] < tokens[false]+4 {
		t.Errorf("prompt tokens %d with an image and %d without, want at least 4 more", tokens[true], tokens[false])
	}
	if proof, err := server.Stop(t.Context()); err != nil || !proof.Clean() {
		t.Errorf("Stop() = %+v, %v, want a clean proof", proof, err)
	}
}

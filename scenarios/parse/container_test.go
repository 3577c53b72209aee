package parse

import (
	"fmt"
	"strings"
	"testing"
)

// The image of an engine without a daemon is a file beside the scenario, or an
// address; that of a daemon is a name.
func TestImages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		container string
		image     string
		lacks     bool // it is a file that must be there
	}{
		{"{image: org/image:1}", "org/image:1", false},
		{"{image: org/image:1, engine: podman}", "org/image:1", false},
		{"{image: \"docker://org/image:1\", engine: apptainer}", "docker://org/image:1", false},
		{"{image: images/vllm.sif, engine: singularity}", "/s/images/vllm.sif", true},
		{"{image: ../vllm.sqsh, engine: enroot}", "/vllm.sqsh", true},
		{"{image: /images/vllm, engine: charliecloud}", "/images/vllm", true},
	} {
		src := "schema: 1\nname: x\nserver: {launcher: vllm, model: org/m, container: " + c.container + "}\n" +
			"variants: [{name: a}]\nload: {dataset: {kind: random, seed: 0}, input-len: 4, output-len: 4, " +
			"num-prompts: 1, max-concurrency: 1}\n"
		s, err := Source("/s/x.yaml", []byte(src), Options{})
		if err != nil {
			t.Errorf("%s: %v", c.container, err)
			continue
		}
		if got := s.Variants[0].Server.Container.Image; got != c.image {
			t.Errorf("%s: image %q, want %q", c.container, got, c.image)
		}
		if got := fmt.Sprint(s.Problems()); strings.Contains(got, c.image) != c.lacks {
			t.Errorf("%s: problems %q, want one of its file: %t", c.container, got, c.lacks)
		}
	}
}

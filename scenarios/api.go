package scenarios

// api is a dialect that servers speak.
type api struct {
	Name, Path string
	Ids        bool // takes token ids
	Images     bool
}

// Apis lists the dialects that a scenario can name.
func Apis() []api {
	return []api{
		{"completions", "/v1/completions", true, false},
		{"chat", "/v1/chat/completions", false, true},
		{"llamacpp", "/completion", true, false},
		{"tgi", "/generate_stream", false, false},
		{"sglang", "/generate", true, false},
		{"ollama", "/api/generate", false, true},
		{"ollama-chat", "/api/chat", false, true},
	}
}

// APINamed is the API of a name; the zero value where there is none.
func APINamed(name string) api {
	for _, a := range Apis() {
		if a.Name == name {
			return a
		}
	}
	return api{}
}

// APINames lists the names of the dialects, in the order of Apis.
func APINames() []string {
	var names []string
	for _, a := range Apis() {
		names = append(names, a.Name)
	}
	return names
}

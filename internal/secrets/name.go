package secrets

import (
	"slices"
	"strings"
	"unicode"
)

// IsName reports whether a name says that its value is a secret: the name of
// an environment variable, a header, an argument or a JSON member, however it
// is spelled (API_KEY, apiKey, --api-key, X-Api-Key).
//
// Names that count tokens or that name a file are not secrets.
func IsName(name string) bool {
	words := wordsOf(name)
	if len(words) == 0 || isHarmless(words) {
		return false
	}

	if slices.ContainsFunc(words, isSecretWord) || isAddressOfStore(words) || isKeyWithID(words) {
		return true
	}

	switch words[len(words)-1] {
	case "key", "token", "auth", "pat", "pwd", "jwt":
		return true
	case "pass": // DB_PASS, but not the pass of a benchmark
		return len(words) > 1 && !strings.ContainsAny(name, "0123456789")
	}

	return false
}

// isSecretWord is for words that make a name a secret wherever they stand.
func isSecretWord(word string) bool {
	switch word {
	case "secret", "secrets", "authorization", "cookie", "cookies", "credential", "credentials", "creds",
		"private", "dsn", "pgpass", "passphrase", "passcode", "apikey", "apikeys":
		return true
	}
	for _, ending := range []string{"password", "passwd", "passwords", "secret", "apikey", "authtoken", "accesstoken"} {
		if strings.HasSuffix(word, ending) {
			return true
		}
	}
	return false
}

// isAddressOfStore is for addresses that usually hold a password: DATABASE_URL.
func isAddressOfStore(words []string) bool {
	last := words[len(words)-1]
	if last != "url" && last != "uri" {
		return false
	}
	stores := []string{
		"database", "db", "redis", "mongo", "mongodb", "postgres", "postgresql", "mysql", "amqp", "broker", "webhook",
	}
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(stores, w) })
}

// isKeyWithID is for AWS_ACCESS_KEY_ID, api-keys and the like.
func isKeyWithID(words []string) bool {
	for i, word := range words[1:] {
		if word != "key" && word != "keys" {
			continue
		}
		switch words[i] {
		case "api", "access", "secret", "auth", "account", "signing", "encryption":
			return true
		}
	}
	return false
}

// isHarmless is for names that hold a word of a secret and mean none.
func isHarmless(words []string) bool {
	switch strings.Join(words, "_") {
	case "pwd", "bench_cookie": // the shell's working folder; the mark of processes that are ours
		return true
	}

	last := words[len(words)-1]
	switch last {
	case "path", "file", "dir", "folder", "sha256", "hash":
		return true
	}

	if len(words) < 2 {
		return false
	}

	before := words[len(words)-2]
	switch last {
	case "token":
		special := []string{
			"eos", "bos", "pad", "unk", "sep", "mask", "stop", "image", "video", "audio", "first",
			"per", "output", "input",
		}
		return slices.Contains(special, before)
	case "key":
		return slices.Contains([]string{"public", "primary", "sort", "partition", "cache", "group"}, before)
	}

	return false
}

// wordsOf splits a name at what is neither a letter nor a digit, and where a small
// letter meets a capital one, and drops a number at its end.
func wordsOf(name string) []string {
	var words []string
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			words = append(words, strings.ToLower(word.String()))
			word.Reset()
		}
	}

	small := false
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
			small = false
			continue
		case small && unicode.IsUpper(r):
			end()
		}
		small = unicode.IsLower(r)
		word.WriteRune(r)
	}

	end()

	for len(words) > 1 && strings.Trim(words[len(words)-1], "0123456789") == "" {
		words = words[:len(words)-1]
	}

	return words
}

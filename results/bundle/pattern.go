package bundle

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/benchrig/bench/internal/secrets"
)

// pattern finds one kind of secret by its form.
type pattern struct {
	what  string
	hints []string // one of them is in every match; cheap to look for
	find  *regexp.Regexp
	group int               // that is the secret
	named int               // group with the name of the secret; 0: none
	is    func([]byte) bool // refuses what only looks like one; nil: all are
}

// patterns are the kinds of secrets that are known by their form.
func patterns() []pattern {
	plain := func(what, expr string, hints ...string) pattern {
		return pattern{what: what, hints: hints, find: regexp.MustCompile(expr)}
	}

	return []pattern{
		plain("Hugging Face token", `\bhf_[A-Za-z0-9]{16,}`, "hf_"),
		plain("key that begins with sk-", `\bsk-[A-Za-z0-9_-]{16,}`, "sk-"),
		plain("AWS access key", `\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`, "AKIA", "ASIA"),
		plain("GitHub token", `\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})`, "ghp_", "gho_", "ghu_",
			"ghs_", "ghr_", "github_pat_"),
		plain("GitLab token", `\bglpat-[A-Za-z0-9_-]{16,}`, "glpat-"),
		plain("Slack token", `\bxox[abeprs]-[A-Za-z0-9-]{10,}`, "xox"),
		plain("Google key", `\bAIza[0-9A-Za-z_-]{35}`, "AIza"),
		plain("NVIDIA key", `\bnvapi-[A-Za-z0-9_-]{16,}`, "nvapi-"),
		plain("JSON web token", `\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}`, "eyJ"),
		plain("private key", `-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----`, "PRIVATE KEY"),
		{
			what: "address of a webhook", hints: []string{"hooks.slack.com/", "/api/webhooks/"}, group: 1,
			find: regexp.MustCompile(`(?:hooks\.slack\.com/services|/api/webhooks)/([^\s"'<>]{8,})`),
		},
		{
			what: "bearer token", hints: []string{"earer", "EARER"}, group: 1, is: random,
			find: regexp.MustCompile(`(?i)\bbearer\s+([A-Za-z0-9._~+/=-]{8,})`),
		},
		{
			what: "authorization header", hints: []string{"uthorization", "UTHORIZATION"}, group: 1, is: meant,
			find: regexp.MustCompile(`(?i)\bauthorization\\?["']?\s*[:=]\s*\\?["']?(?:[A-Za-z]+\s+)?([^\s"'\\,]{8,})`),
		},
		{
			what: "password in a URL", hints: []string{"://"}, group: 1, is: meant,
			find: regexp.MustCompile(`://[^\s/:@"'<>\\]*:([^\s/@"'<>\\]+)@`),
		},
		{
			what: "signed URL", hints: []string{"oken=", "ignature=", "sig=", "key="}, group: 1, is: meant,
			find: regexp.MustCompile(`(?i)[?&](?:token|access_token|api_key|apikey|key|sig|[a-z-]*signature)=([^&\s"'<>\\]{8,})`),
		},
		{
			hints: []string{"TOKEN", "KEY", "SECRET", "PASSW"}, named: 1, group: 2, is: meant,
			find: regexp.MustCompile(`\b((?:[A-Z][A-Z0-9_]*_)?(?:TOKEN|KEY|SECRET|PASSWORD|PASSWD))\\?["']?\s*[:=]\s*\\?["']?([^\s"'\\,;}\]&]{4,})`),
		},
		{
			hints: []string{
				"key", "Key", "passw", "Passw", "secret", "Secret", "token",
				"Token",
			}, named: 1, group: 2, is: worded,
			find: regexp.MustCompile(`(?i)\b(api[-_]?key|[a-z]*passw(?:or)?d|(?:[a-z]+[-_])?secret(?:[-_](?:access[-_])?key)?|(?:access|auth|hf|refresh|bearer)[-_]token)\b\\?["']?(?:\s*[:=,]\s*|\s+)\\?["']?([^\s"'\\,;}\]&]{6,})`),
		},
	}
}

const hidden = secrets.Hidden

// meant is false for values that are not secrets: references, and what is
// hidden already.
func meant(value []byte) bool {
	v := string(bytes.Trim(value, `"'`))
	switch strings.ToLower(v) {
	case "", "null", "none", "true", "false", "unset", "empty":
		return false
	}
	return !strings.HasPrefix(v, hidden) && v[0] != '$' && v[0] != '<' && v[0] != '{' && v[0] != '['
}

// random distinguishes tokens from words.
func random(value []byte) bool {
	const long = 24
	return meant(value) && (len(value) >= long || bytes.ContainsAny(value, "0123456789"))
}

// worded is for names in small letters, which are in prose too, before a
// word or a number.
func worded(value []byte) bool {
	return meant(value) && len(bytes.Trim(value, "0123456789.eE+-")) > 0 &&
		bytes.ContainsAny(value, "0123456789-_+/=ABCDEFGHIJKLMNOPQRSTUVWXYZ")
}

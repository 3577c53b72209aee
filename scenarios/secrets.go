package scenarios

// Hidden replaces a secret.
const Hidden = "***"

// MinSecret is the length from which a secret value is listed for redaction:
// replacing shorter ones would garble every log.
const MinSecret = 6

package scenarios

// hidden stands where a secret was.
const hidden = "***"

// minSecret is the length from which a secret value is listed for redaction:
// replacing shorter ones would garble every log.
const minSecret = 6

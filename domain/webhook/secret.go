package webhook

import "encoding/base64"

// SecretPrefix starts every secret.
const SecretPrefix = "whsec_"

// Secret signs the messages to one endpoint: a prefix, and 256 random bits in base64. It is shown only when it is made.
type Secret string

// NewSecret encodes 256 random bits as a secret.
func NewSecret(random [32]byte) Secret {
	return Secret(SecretPrefix + base64.StdEncoding.EncodeToString(random[:]))
}

// Sealed is a secret encrypted with the key of the instance, as it is stored.
type Sealed string

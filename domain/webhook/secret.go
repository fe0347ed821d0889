package webhook

import "encoding/base64"

// SecretPrefix starts every secret.
const SecretPrefix = "whsec_"

// Secret signs what is sent to one endpoint: a prefix, and 256 random bits in base64. It is shown when it is made, and
// never again.
type Secret string

// NewSecret spells 256 random bits as a secret.
func NewSecret(random [32]byte) Secret {
	return Secret(SecretPrefix + base64.StdEncoding.EncodeToString(random[:]))
}

// Sealed is a secret as it is kept: only who has the instance's key can read it.
type Sealed string

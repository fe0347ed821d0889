package httpkit

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"holdco/domain/event"
	"holdco/domain/precondition"
)

// VersionTag is the strong entity tag of a version. It stays the same under every content coding, so that a client can
// send back what it got.
func VersionTag(version int64) string { return `"` + strconv.FormatInt(version, 10) + `"` }

// ShownTag is VersionTag for a resource that also shows what is counted elsewhere: the tag is another one when that has changed,
// and matches the version all the same.
func ShownTag(version int64, shown event.Fields) string {
	return versionWith(version, strings.Trim(DigestTag(shown.Append(nil)), `"`))
}

// CountedTag is ShownTag for a single number that is counted elsewhere. With 0 it is VersionTag.
func CountedTag(version, count int64) string {
	if count == 0 {
		return VersionTag(version)
	}
	return versionWith(version, strconv.FormatUint(uint64(count), 16))
}

func versionWith(version int64, more string) string {
	return `"` + strconv.FormatInt(version, 10) + "-" + more + `"`
}

// DigestTag is the strong entity tag of a text that has no version.
func DigestTag(text []byte) string {
	sum := sha256.Sum256(text)
	return `"` + hex.EncodeToString(sum[:16]) + `"`
}

// matchOf reads If-Match. Weak tags, and tags that are none of ours, match nothing (RFC 9110, section 13.1.1).
func matchOf(c *gin.Context) precondition.Match {
	header := c.GetHeader("If-Match")
	if header == "" || header == "*" {
		return precondition.Any()
	}
	var versions []int64
	for _, tag := range entityTags(header) {
		digits, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSuffix(tag, `"`), `"`), "-")
		version, err := strconv.ParseInt(digits, 10, 64)
		if err == nil && strconv.FormatInt(version, 10) == digits {
			versions = append(versions, version)
		}
	}
	return precondition.OneOf(versions...)
}

// hasAlready reports whether the client asked to be spared an answer with this tag (RFC 9110, section 13.1.2: here weak
// tags do match).
func hasAlready(c *gin.Context, tag string) bool {
	if tag == "" || c.Request.Method != http.MethodGet && c.Request.Method != http.MethodHead {
		return false
	}
	header := c.GetHeader("If-None-Match")
	return header == "*" || slices.ContainsFunc(entityTags(header), func(sent string) bool {
		return strings.TrimPrefix(sent, "W/") == tag
	})
}

// entityTags splits a list of entity tags, such as `"1", W/"2"`. A list that is malformed holds none.
func entityTags(list string) []string {
	var tags []string
	for rest := strings.TrimLeft(list, ", \t"); rest != ""; {
		before, after, _ := strings.Cut(rest, `"`)
		opaque, next, closed := strings.Cut(after, `"`)
		if before != "" && before != "W/" || !closed {
			return nil
		}
		tags = append(tags, before+`"`+opaque+`"`)
		if rest = strings.TrimLeft(next, " \t"); rest != "" && rest[0] != ',' {
			return nil
		}
		rest = strings.TrimLeft(rest, ", \t")
	}
	return tags
}

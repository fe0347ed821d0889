// Package partners holds the use cases of partners, one file each: creating, changing and reading them, and
// authenticating with their keys.
package partners

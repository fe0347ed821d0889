// Package archive keeps backups: a tar, compressed by zstd and, for recipients, encrypted by age, in files and streams.
package archive

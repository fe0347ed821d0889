// Package goals is the use cases of goals and projects.
package goals

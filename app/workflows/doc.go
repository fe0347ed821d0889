// Package workflows has the use cases of workflows. How their steps are worked through is in app/work.
package workflows

// Package workflow has workflows: steps that are done one after the other, again and again.
package workflow

package main

import (
	"strings"
	"sync"

	"posagent/schemes/contracts"
	"posagent/schemes/wire/rest/openapi"
)

// routes returns what names the path of a request to the backend: the words of the contracts' routes stay, and {} stands for everything
// else, which says what a request is about.
func routes() func(path string) string {
	words := sync.OnceValue(routeWords)
	return func(path string) string {
		list := strings.Split(path, "/")
		for i, s := range list {
			if s != "" && !words()[strings.ToLower(s)] {
				list[i] = "{}"
			}
		}
		return strings.Join(list, "/")
	}
}

// routeWords are the words of all routes of the backend, in small letters.
func routeWords() map[string]bool {
	words := map[string]bool{}
	groups := append([]openapi.Group{
		contracts.Payments(), contracts.Tokens(), contracts.Onboarding(), contracts.Methods(), contracts.Schemes(), contracts.Hosted(), contracts.Links(),
		contracts.Disputes(), contracts.Access(),
	}, contracts.Fleet()...)
	for _, g := range groups {
		paths := []string{g.Prefix}
		for _, info := range g.Infos {
			paths = append(paths, info.Path)
		}
		for s := range strings.SplitSeq(strings.Join(paths, "/"), "/") {
			if s != "" && !strings.ContainsAny(s, "{}") {
				words[strings.ToLower(s)] = true
			}
		}
	}
	return words
}

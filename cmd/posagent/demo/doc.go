// Package demo tells the story of `posagent demo`: it executes its own binary (backend, terminal, register,
// wallet) and talks to it over a real pair of pseudo terminals and real HTTP; it reaches into no other room.
//
// It guarantees that it ends with exit 0 only when every chapter went as told and the backend's books equal
// the terminal's journal. It must not import anything of this project.
package demo

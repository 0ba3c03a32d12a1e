// Command posagent-backend serves what posagent backend serves, from a PostgreSQL database: any number of
// its processes share one, behind a balancer. It runs on servers, never on a terminal.
//
// Its verbs are those of cmd/backend, with the flags of every verb that name the database, and
// `database`, which shows the server and what is remembered of it.
//
// It guarantees:
//   - A server that may lose what it has confirmed, that went backwards, or that others can listen to is
//     refused, with what to set; --tolerate takes it all the same.
//   - No password is printed.
//
// Its doctor adds the checks of a server (doctor_checks.go, texts in doctor.txt) to those of a backend.
//
// It must not import anything of the terminal but its configuration and what runs the checks of its doctor.
package main

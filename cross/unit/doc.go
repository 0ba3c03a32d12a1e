// Command unit runs a command under the system call filters of the packages' unit, as systemd would
// install them: `make verify ONLY=unit`, which runs tests of the program so.
//
//	go run ./cross/unit [-families] COMMAND...
//
// It reads cross/build/packages/files/posagent.service below the module. RestrictAddressFamilies and
// SystemCallFilter are obeyed, with the unit's error number; -families leaves SystemCallFilter out,
// whose sets systemd-analyze expands.
//
// It guarantees that the command does not run where a filter could not be made or installed: it says
// why and ends with 125. The filters stay with everything that the command starts.
//
// It must not import any other package of the module: it stands beside the built binary. What the
// unit asks for in other ways (accounts, devices, file systems, memory) is not tried here.
package main

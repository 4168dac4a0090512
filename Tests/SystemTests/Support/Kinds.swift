import Testing

/// Stories of people, on a running suite that they share: all services, the sandbox, Postgres, Redis and RabbitMQ.
///
/// They run side by side, so each has people of its own, moves no clock, stops nothing, and counts only what is its own.
@Suite(.runningSuite(.gentle))
enum Journeys {}

/// Stories in which something is lost, late, forged or killed, or in which everybody else has to keep still.
///
/// The suite is started once for all of them; they run one after the other, because some of them kill a service, move
/// the clocks or count rows. In containers they run on these.
@Suite(.serialized, .runningSuite)
enum Faults {}

/// Requests that must be refused and leave no trace, on a suite in which nothing else moves.
@Suite(.serialized, .runningSuite(.gentle))
enum Probes {}

/// Stories that hurt services or servers of their own.
@Suite(.serialized)
enum ServiceFaults {}

/// Stories in which a service dies at a labelled place, which debug builds have; always on processes.
@Suite(.serialized, .runningSuite(.only(SuiteEnvironment.names)))
enum LabelledCrashes {}

/// What needs no running suite.
enum Tools {}

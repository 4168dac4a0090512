import Testing

/// Stories on a whole running suite: all services, the sandbox, Postgres, Redis and RabbitMQ.
///
/// The suite is started once for all of them; they run one after the other, because some of them kill a service, move
/// the clocks or count rows.
@Suite(.serialized, .runningSuite)
enum WholeSuite {}

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/**
 * Runs one of Curator's recipes against a server: {@code java Interop VERB SERVER PATH [KEY=VALUE...]}.
 *
 * <p>Results go to standard output, one per line; what a script prints does not depend on timing. The exit code is 0
 * unless something failed. The end of standard input tells "hold", "holdrw", "holdlatch" and "holdselector" to
 * release and the contests to end; in every other verb it means that the caller has ended, and ends the program.
 */
public final class Interop {
    private Interop() {}

    /** A verb of the command line. */
    private interface Verb {
        void run(Arguments arguments, CountDownLatch inputEnded) throws Exception;
    }

    private static final Map<String, Verb> VERBS = new HashMap<>(Map.of(
            "mutex", (arguments, input) -> new MutexContention(arguments).run(),
            "hold", (arguments, input) -> new MutexHolder(arguments).run(input),
            "holdrw", (arguments, input) -> new ReadWriteHolder(arguments).run(input),
            "rwlock", (arguments, input) -> new ReadWriteScript(arguments).run(),
            "semaphore", (arguments, input) -> new SemaphoreScript(arguments).run(),
            "latch", (arguments, input) -> new LatchScript(arguments).run(),
            "contest-mutex", (arguments, input) -> new Contest("mutex", arguments).run(input),
            "contest-rwlock", (arguments, input) -> new Contest("rwlock", arguments).run(input),
            "contest-semaphore", (arguments, input) -> new Contest("semaphore", arguments).run(input),
            "contest-leader", (arguments, input) -> new Contest("leader", arguments).run(input)));

    static {
        VERBS.put("contest-multilock", (arguments, input) -> new Contest("multilock", arguments).run(input));
        VERBS.put("revoke", (arguments, input) -> new Revocation(arguments).run());
        VERBS.put("holdlatch", (arguments, input) -> new LatchHolder(arguments).run(input));
        VERBS.put("holdselector", (arguments, input) -> new SelectorHolder(arguments).run(input));
        VERBS.put("participants", (arguments, input) -> new LatchParticipants(arguments).run());
    }

    public static void main(String[] words) {
        try {
            Verb verb = words.length < 3 ? null : VERBS.get(words[0]);
            if (verb == null) {
                System.err.println("usage: Interop " + String.join("|", VERBS.keySet()) + " SERVER PATH [KEY=VALUE...]");
                System.exit(2);
            }
            verb.run(new Arguments(words), watchInput(words[0].startsWith("hold") || words[0].startsWith("contest-")));
        } catch (Throwable failure) {
            failure.printStackTrace();
            System.exit(1);
        }
        System.exit(0); // threads of clients that a script left open do not matter any more
    }

    /** Counts down at the end of standard input, or ends the program if no verb waits for that. */
    private static CountDownLatch watchInput(boolean awaited) {
        CountDownLatch ended = new CountDownLatch(1);
        Thread reader = new Thread(() -> {
            try {
                while (System.in.read() >= 0) {
                    // only the end matters
                }
            } catch (IOException end) {
                // treated as the end
            }
            if (!awaited) {
                Runtime.getRuntime().halt(3);
            }
            ended.countDown();
        });
        reader.setDaemon(true);
        reader.start();
        return ended;
    }

    /** The words after the verb. */
    static final class Arguments {
        final String server;
        final String path;
        private final Map<String, Integer> numbers = new HashMap<>();

        Arguments(String[] words) {
            server = words[1];
            path = words[2];
            for (int i = 3; i < words.length; i++) {
                String[] pair = words[i].split("=", 2);
                numbers.put(pair[0], Integer.parseInt(pair[1]));
            }
        }

        int number(String key, int otherwise) {
            return numbers.getOrDefault(key, otherwise);
        }
    }
}

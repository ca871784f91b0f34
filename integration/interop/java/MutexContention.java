import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Lets {@code threads} threads, each with its own session, contend for one mutex or, with {@code locks}, for one
 * multi-lock: {@code grants} times each or, with {@code seconds}, for that long. Prints "ready" and then a line of JSON
 * for each grant. From and Until are readings of the machine's monotonic clock while the mutex was held.
 */
final class MutexContention {
    private final Interop.Arguments arguments;

    MutexContention(Interop.Arguments arguments) {
        this.arguments = arguments;
    }

    void run() throws Exception {
        List<Actor> actors = new ArrayList<>();
        for (int i = 0; i < arguments.number("threads", 4); i++) {
            actors.add(new Actor("java-" + i, arguments));
        }
        System.out.println("ready");
        long seconds = arguments.number("seconds", 0);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        int grants = seconds > 0 ? Integer.MAX_VALUE : arguments.number("grants", 50);
        List<Future<Void>> all = new ArrayList<>();
        for (Actor actor : actors) {
            all.add(actor.start(() -> {
                NamedLock mutex = NamedLock.of(actor.client, arguments);
                for (int i = 0; i < grants && (seconds == 0 || System.nanoTime() - end < 0); i++) {
                    hold(mutex, actor.name);
                }
                return null;
            }));
        }
        for (Future<Void> one : all) {
            one.get();
        }
        for (Actor actor : actors) {
            actor.close();
        }
    }

    private static void hold(NamedLock mutex, String who) throws Exception {
        if (!mutex.acquire(Clients.LIMIT_SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException(who + " was not granted the mutex");
        }
        long from = System.nanoTime();
        String node = mutex.node();
        LockSupport.parkNanos(200_000); // long enough for another holder to be seen
        long until = System.nanoTime();
        mutex.release();
        System.out.println(String.format(
                "{\"Who\":\"%s\",\"Node\":\"%s\",\"From\":%d,\"Until\":%d}", who, node, from, until));
    }
}

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;

/**
 * One thread with one session. Curator's locks belong to the thread that acquired them, so a script with several owners
 * needs a thread for each.
 */
final class Actor {
    final String name;
    final CuratorFramework client;
    private final ExecutorService thread;

    Actor(String name, Interop.Arguments arguments) throws Exception {
        this.name = name;
        client = Clients.connect(arguments);
        thread = Executors.newSingleThreadExecutor();
    }

    /** Starts an action on the actor's thread. */
    <T> Future<T> start(Callable<T> work) {
        return thread.submit(work);
    }

    /** Does an action on the actor's thread. */
    <T> T call(Callable<T> work) throws Exception {
        return result(start(work));
    }

    /** Prints the result of an action on the actor's thread. */
    void say(String what, Callable<?> work) throws Exception {
        System.out.println(name + " " + what + ": " + call(work));
    }

    static <T> T result(Future<T> future) throws Exception {
        return future.get(Clients.LIMIT_SECONDS, TimeUnit.SECONDS);
    }

    void close() {
        client.close();
        thread.shutdown();
    }
}

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException;

/**
 * * Acquires a mutex or, with {@code locks}, a multi-lock, re-enters it, and holds it until told to release. Prints "busy" and ends if the mutex was not
 * free within {@code wait} milliseconds, "not permitted" if that is what the server says, else "held NODE" and, later, "released".
 */
final class MutexHolder {
    private final Interop.Arguments arguments;

    MutexHolder(Interop.Arguments arguments) {
        this.arguments = arguments;
    }

    void run(CountDownLatch end) throws Exception {
        Actor actor = new Actor("holder", arguments);
        NamedLock mutex = NamedLock.of(actor.client, arguments);
        boolean held;
        try {
            held = actor.call(() -> mutex.acquire(arguments.number("wait", 0), TimeUnit.MILLISECONDS));
        } catch (Exception failure) {
            for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
                if (cause instanceof KeeperException.NoAuthException) {
                    System.out.println("not permitted");
                    return;
                }
            }
            throw failure;
        }
        if (!held) {
            System.out.println("busy");
        } else {
            actor.call(() -> mutex.acquire(0, TimeUnit.MILLISECONDS));
            System.out.println("held " + actor.call(mutex::node));
            end.await();
            for (int i = 0; i < 2; i++) {
                actor.call(() -> {
                    mutex.release();
                    return null;
                });
            }
            System.out.println("released");
        }
        actor.close();
    }
}

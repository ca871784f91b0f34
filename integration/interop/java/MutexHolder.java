import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Takes a mutex, enters it once more, and holds it until told to release. Prints "busy" and ends if the mutex was not
 * free within {@code wait} milliseconds, else "held NODE" and, later, "released".
 */
final class MutexHolder {
    private final Interop.Arguments arguments;

    MutexHolder(Interop.Arguments arguments) {
        this.arguments = arguments;
    }

    void run(CountDownLatch end) throws Exception {
        Actor actor = new Actor("holder", arguments);
        NamedMutex mutex = new NamedMutex(actor.client, arguments.path);
        boolean held = actor.call(() -> mutex.acquire(arguments.number("wait", 0), TimeUnit.MILLISECONDS));
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

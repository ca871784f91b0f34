import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.Map;

/**
 * Carries out orders for Curator, one a line, until its input ends. The Go package contend says what they are.
 */
final class Contender {
    /** How many permits every semaphore has. */
    static final int PERMITS = 10;

    private Contender() {}

    public static void main(String[] arguments) throws Exception {
        Slots slots = new Slots(arguments[2]);
        try (Clients clients = new Clients(arguments[0], Integer.parseInt(arguments[1]))) {
            Orders orders = new Orders(clients, slots, arguments[3].equals("curator-listener"));
            System.out.println("ok");
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                System.out.println(answer(orders, slots, line));
            }
        }
        System.exit(0); // threads that wait for a lock do not keep it
    }

    private static String answer(Orders orders, Slots slots, String line) {
        String[] words = line.split(" ");
        Map<String, String> values = new HashMap<>();
        for (int i = 1; i < words.length; i++) {
            int at = words[i].indexOf('=');
            values.put(words[i].substring(0, at), words[i].substring(at + 1));
        }
        try {
            slots.violations.set(0);
            return "ok " + orders.carryOut(words[0], values) + " violations=" + slots.violations.get();
        } catch (Exception e) {
            return "error " + String.valueOf(e).replace('\n', ' ');
        }
    }
}
